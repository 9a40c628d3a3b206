//! Draws on a terminal in memory.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::draw::{Look, draw};
use super::items::{Item, ItemKind, Source};
use super::state::{Browser, Wish};

struct FixedSource;

impl Source for FixedSource {
    fn text(&self, item: &Item, _is_full: bool) -> Vec<String> {
        vec![format!("all about {} …", item.id)]
    }
}

fn item(kind: ItemKind, id: &str, title: &str) -> Item {
    let when = "09:52".to_owned();
    let note = if kind == ItemKind::Call { "failure" } else { "3 calls" }.to_owned();
    Item {
        kind,
        id: id.to_owned(),
        at_ms: 0,
        when,
        note,
        title: title.to_owned(),
        root: None,
        is_bad: kind == ItemKind::Call,
    }
}

fn browser() -> Browser {
    Browser::new(vec![
        item(ItemKind::Call, "s1:4", "Bash cargo test --workspace"),
        item(ItemKind::Call, "s1:2", "Edit src/parser.rs"),
        item(ItemKind::Session, "s1", "rename the parser module"),
    ])
}

const PLAIN: Look = Look { has_colour: false, is_ascii: true };

fn drawn(browser: &mut Browser, columns: u16, look: Look) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, 20)).unwrap();
    terminal.draw(|frame| draw(frame, browser, &FixedSource, look)).unwrap();
    terminal
}

fn text(terminal: &Terminal<TestBackend>) -> String {
    terminal.backend().to_string()
}

fn press(browser: &mut Browser, keys: &str) -> Wish {
    let mut wish = Wish::Nothing;
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '\t' => KeyCode::Tab,
            '\x08' => KeyCode::Backspace,
            letter => KeyCode::Char(letter),
        };
        wish = browser.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
    wish
}

#[test]
fn list_preview_and_keys_are_seen_on_narrow_and_wide_terminals() {
    for columns in [60, 120] {
        let shown = text(&drawn(&mut browser(), columns, PLAIN));
        for part in [
            "3 of 3 sessions and calls",
            "> 09:52",
            "Bash cargo test",
            "rename the parser",
            "all about s1:4",
            "? help",
        ] {
            assert!(shown.contains(part), "{part:?} at {columns}:\n{shown}");
        }
    }
}

#[test]
fn a_small_terminal_is_no_reason_to_fall_over() {
    for (columns, rows) in [(1, 1), (10, 3), (200, 2)] {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut browser = browser();
        browser.shows_help = true;
        terminal.draw(|frame| draw(frame, &mut browser, &FixedSource, PLAIN)).unwrap();
    }
}

#[test]
fn without_colour_and_unicode_there_is_neither() {
    let colours = |look| {
        let terminal = drawn(&mut browser(), 120, look);
        terminal.backend().buffer().content().iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert_eq!(colours(PLAIN), 0);
    assert!(colours(Look { has_colour: true, is_ascii: false }) > 0);
    let terminal = drawn(&mut browser(), 60, PLAIN);
    assert!(terminal.backend().buffer().content().iter().all(|cell| cell.symbol().is_ascii()));
    let shown = text(&drawn(&mut browser(), 60, Look { has_colour: false, is_ascii: false }));
    assert!(shown.contains('│'), "{shown}");
}

#[test]
fn a_filter_takes_letters_in_their_order_and_can_be_dropped() {
    let mut browser = browser();
    press(&mut browser, "/prsr");
    let titles = |browser: &Browser| browser.found().map(|item| item.title.clone()).collect::<Vec<_>>();
    assert_eq!(titles(&browser).len(), 2, "{:?}", titles(&browser));
    assert!(titles(&browser).iter().all(|title| title.contains("parser")));
    assert!(text(&drawn(&mut browser, 60, PLAIN)).contains("/prsr_"));
    press(&mut browser, "\x08\x08\x08\x08cargo\n");
    assert_eq!(titles(&browser), ["Bash cargo test --workspace"]);
    assert_eq!(press(&mut browser, "\x1b"), Wish::Nothing);
    assert_eq!(titles(&browser).len(), 3);
    assert_eq!(press(&mut browser, "\x1b"), Wish::Quit);
    press(&mut browser, "/nothing like it\n");
    assert_eq!(
        (titles(&browser).len(), press(&mut browser, "\n"), press(&mut browser, "y")),
        (0, Wish::Nothing, Wish::Nothing)
    );
    assert!(text(&drawn(&mut browser, 60, PLAIN)).contains("0 of 3"));
}

#[test]
fn keys_move_open_copy_and_turn() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, "jy"), Wish::Copy("s1:2".to_owned()));
    assert!(text(&drawn(&mut browser, 60, PLAIN)).contains("copied s1:2"));
    assert_eq!(press(&mut browser, "Gy"), Wish::Copy("s1".to_owned()));
    assert_eq!(press(&mut browser, "jjjkgy"), Wish::Copy("s1:4".to_owned()));
    assert_eq!(press(&mut browser, "\t"), Wish::Nothing);
    assert!(browser.counted().contains("1 of 1 sessions"), "{}", browser.counted());
    press(&mut browser, "\t");
    assert!(browser.counted().contains("2 of 2 calls"), "{}", browser.counted());
    assert_eq!(press(&mut browser, "\n"), Wish::Open);
    press(&mut browser, "?");
    assert!(text(&drawn(&mut browser, 60, PLAIN)).contains("copy the id"));
    assert_eq!(press(&mut browser, "q"), Wish::Nothing, "any key leaves the help");
    assert_eq!(press(&mut browser, "q"), Wish::Quit);
    let end = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    press(&mut browser, "/");
    assert_eq!(browser.press(end), Wish::Quit);
}
