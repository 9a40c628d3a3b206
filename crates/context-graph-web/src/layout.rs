//! The frame around every page, and small parts that pages share.

use context_graph_core::audit::Outcome;
use context_graph_core::gwt::ic_monitor::ICLevel;
use context_graph_events::safe_text::grouped;
use maud::{DOCTYPE, Markup, html};

/// The pages in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Now,
    Sessions,
    Calls,
    Guard,
    Files,
    Health,
}

impl Tab {
    const ALL: [Self; 6] = [Self::Now, Self::Sessions, Self::Calls, Self::Guard, Self::Files, Self::Health];

    const fn name(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Sessions => "Sessions",
            Self::Calls => "Calls",
            Self::Guard => "Guard",
            Self::Files => "Files",
            Self::Health => "Health",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Now => "/",
            Self::Sessions => "/sessions",
            Self::Calls => "/calls",
            Self::Guard => "/guard",
            Self::Files => "/files",
            Self::Health => "/health",
        }
    }

    /// The key for this page, after `g`.
    const fn key(self) -> char {
        match self {
            Self::Now => 'n',
            Self::Sessions => 's',
            Self::Calls => 'c',
            Self::Guard => 'g',
            Self::Files => 'f',
            Self::Health => 'h',
        }
    }

    /// The icon, 16 by 16.
    const fn icon(self) -> &'static str {
        match self {
            Self::Now => "M1.5 8.5h3l2-5 3 9 2-4h3",
            Self::Sessions => "M2.5 4h11M2.5 8h11M2.5 12h7",
            Self::Calls => "M3 4.5 6.5 8 3 11.5M8.5 11.5H13",
            Self::Guard => "M8 1.8 13 3.6v4.2c0 3.2-2.1 5.4-5 6.4-2.9-1-5-3.2-5-6.4V3.6z",
            Self::Files => {
                "M2 4.2c0-.7.5-1.2 1.2-1.2h2.9l1.5 1.7h5.2c.7 0 1.2.5 1.2 1.2v5.9c0 .7-.5 1.2-1.2 1.2H3.2c-.7 0-1.2-.5-1.2-1.2z"
            }
            Self::Health => {
                "M8 13.5C4 10.8 2 8.7 2 6.2 2 4.4 3.4 3 5.1 3c1.2 0 2.3.6 2.9 1.7C8.6 3.6 9.7 3 10.9 3 12.6 3 14 4.4 14 6.2c0 2.5-2 4.6-6 7.3z"
            }
        }
    }
}

/// The metadata of every page.
pub(crate) fn meta() -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
    }
}

/// A page in its frame, with its title and body.
pub(crate) fn page(tab: Tab, title: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta())
                title { (title) " · context-graph" }
                link rel="stylesheet" href="/assets/app.css";
                link rel="icon" type="image/svg+xml" href="/assets/icon.svg";
                script src="/assets/app.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.bar {
                    a.brand href="/" aria-label="context-graph, to the page Now" {
                        (logo())
                        span { "context-graph" }
                    }
                    nav aria-label="Pages" {
                        @for other in Tab::ALL {
                            a href=(other.path()) aria-current=[(other == tab).then_some("page")]
                                data-key=(other.key()) title={ "g then " (other.key()) } {
                                svg.icon viewBox="0 0 16 16" aria-hidden="true" { path d=(other.icon()) {} }
                                span { (other.name()) }
                            }
                        }
                    }
                    p.status #status role="status" { span.dot {} span.word {} }
                    button.keys #keys type="button" hidden { kbd { "?" } " keys" }
                }
                main #main tabindex="-1" { (body) }
                dialog #help aria-labelledby="help-title" {
                    h2 #help-title { "Keys" }
                    dl.pairs {
                        @for other in Tab::ALL {
                            dt { kbd { "g" } " " kbd { (other.key()) } }
                            dd { (other.name()) }
                        }
                        dt { kbd { "/" } } dd { "Search" }
                        dt { kbd { "j" } " " kbd { "k" } } dd { "Next, previous row" }
                        dt { kbd { "Enter" } } dd { "Open the row" }
                        dt { kbd { "[" } " " kbd { "]" } } dd { "Previous, next page of a list" }
                        dt { kbd { "Esc" } } dd { "Close" }
                    }
                    form method="dialog" { button { "Close" } }
                }
            }
        }
    }
}

/// The program's logo: a graph of three nodes.
pub(crate) fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" aria-hidden="true" {
            path d="M6 17.5 11 7l7.5 5.5z" {}
            circle cx="6" cy="17.5" r="2.6" {}
            circle cx="11" cy="7" r="2.6" {}
            circle cx="18.5" cy="12.5" r="2.6" {}
        }
    }
}

/// The heading of a page, with something beside it.
pub(crate) fn heading(title: Markup, beside: Markup) -> Markup {
    html! { div.heading { h1 { (title) } div.beside { (beside) } } }
}

/// Shown if there is nothing to list.
pub(crate) fn empty(title: &str, what_to_do: Markup) -> Markup {
    html! { div.empty { (logo()) h2 { (title) } p { (what_to_do) } } }
}

/// A number with its name.
pub(crate) fn figure(value: Markup, name: &str) -> Markup {
    html! { div.figure { b { (value) } span { (name) } } }
}

/// A whole number with spaces between thousands.
pub(crate) fn number(value: u64) -> String {
    grouped(value, '\u{202f}')
}

/// A number and the name of what it counts.
pub(crate) fn counted(value: u64, one: &str, more: &str) -> String {
    format!("{} {}", number(value), if value == 1 { one } else { more })
}

/// A continuity with its level.
pub(crate) fn continuity(value: f32, level: ICLevel) -> Markup {
    html! {
        span class={ "level " (level.as_str()) } title={ "continuity " (format!("{value:.3}")) ", " (level.as_str()) } {
            (format!("{value:.2}"))
        }
    }
}

/// The outcome of a call: a dot, with a name for those who do not see colours.
pub(crate) fn outcome(outcome: Outcome) -> Markup {
    html! { span class={ "outcome " (outcome.as_str()) } title=(outcome.as_str()) { span { (outcome.as_str()) } } }
}

/// A verdict.
pub(crate) fn verdict(verdict: &str) -> Markup {
    let class = match verdict {
        "deny" | "halt" | "block" => "chip stop",
        "ask" | "defer" => "chip ask",
        "allow" => "chip fine",
        _ => "chip",
    };
    html! { span class=(class) { (verdict) } }
}

/// The last parts of a path, which say the most.
pub(crate) fn tail(path: &str, parts: usize) -> &str {
    let mut cuts = path.trim_end_matches('/').rmatch_indices('/').map(|(at, _)| at + 1);
    cuts.nth(parts - 1).map_or(path, |at| &path[at..])
}

/// Text with a copy button, which needs JavaScript.
pub(crate) fn copyable(label: &str, text: Markup) -> Markup {
    html! {
        div.copy {
            pre tabindex="0" aria-label=(label) { code { (text) } }
            button type="button" data-copy hidden { "Copy" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_by_its_end() {
        assert_eq!((tail("/srv/shop/api", 1), tail("/srv/shop/api/", 2)), ("api", "shop/api/"));
        assert_eq!(tail("api", 3), "api");
    }
}
