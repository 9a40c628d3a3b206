//! Removal of what cannot be made again: roots, homes, the project, its history, trees outside of it.

use super::places::{has_extension, hits, is_temporary, is_within};
use super::{Case, Found, Guard, Rule};
use crate::decision::Severity;
use crate::effects::path::follow;
use crate::effects::{Access, Origin, PathEffect, Piece, Text};

static ROOT: Rule = Rule::deny("destructive-files/root", Severity::Critical);
static HOME: Rule = Rule::deny("destructive-files/home", Severity::Critical);
static PROJECT: Rule = Rule::deny("destructive-files/project", Severity::Critical);
static HISTORY: Rule = Rule::deny("destructive-files/git-folder", Severity::Critical);
static OUTSIDE: Rule = Rule::ask("destructive-files/outside", Severity::High);
static SOURCES: Rule = Rule::ask("destructive-files/sources", Severity::High);
static PERMISSIONS: Rule = Rule::ask("destructive-files/permissions", Severity::High);
static TRUNCATE: Rule = Rule::ask("destructive-files/truncate", Severity::Medium);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-files",
    purpose: "roots, homes, the project, its history and trees outside of it are not removed",
    rules: &[&ROOT, &HOME, &PROJECT, &HISTORY, &OUTSIDE, &SOURCES, &PERMISSIONS, &TRUNCATE],
    check,
};

/// Folders at home whose loss is made good by the next download.
const CACHES: &[&str] = &[
    "~/.cache/**",
    "~/.gradle/caches",
    "~/.npm/_cacache",
    "~/Library/Caches",
    "~/Library/Developer/Xcode/DerivedData",
    "~/.m2/repository",
    "~/.cargo/registry",
    "~/.npm/**",
    "~/.cargo/registry/**",
    "~/.cargo/git/**",
    "~/Library/Caches/**",
    "~/Library/Developer/Xcode/DerivedData/**",
    "~/.gradle/caches/**",
    "~/.m2/repository/**",
    "~/.pnpm-store/**",
    "~/.yarn/**",
    "~/go/pkg/**",
    "~/.rustup/tmp/**",
    "~/.local/share/Trash/**",
    "~/.claude/projects/**",
    "~/.claude/plans/**",
    "~/.claude/skills/**",
];

/// Modes that give a tree to everybody, or to nobody.
const OPEN_MODES: &[&str] = &[
    "777", "0777", "776", "766", "666", "0666", "000", "0000", "0", "a+w", "o+w", "a+rwx", "a=rwx",
    "ugo+rwx", "+rwx", "a-r", "a-x", "-rwx", "ugo-rwx", "a-rwx", "o+rwx", "go+w", "a=", "ugo=",
];

/// Parts of `.git` that are the history itself.
const HISTORY_PARTS: &[&str] = &[
    "**/.git",
    "**/.git/objects",
    "**/.git/objects/**",
    "**/.git/refs",
    "**/.git/refs/**",
    "**/.git/HEAD",
    "**/.git/packed-refs",
    "**/.git/worktrees",
    "**/.git/index",
];

fn check(case: &Case<'_>, found: &mut Found) {
    sources(case, found);
    for effect in &case.effects.paths {
        match effect.access {
            Access::Delete => {
                removal(case, effect, found);
                // What `shred` takes no recovery brings back.
                if effect.by == "shred" && !effect.target.literal().is_some_and(is_temporary) {
                    let shown = effect.target.path.to_string();
                    found.add_at(&TRUNCATE, shown.as_str(), format!("`shred` would destroy {shown}."));
                }
            }
            Access::Write if !effect.by.starts_with("git") && is_history(case, effect) => {
                let shown = effect.target.path.to_string();
                found.add_at(
                    &HISTORY,
                    shown.as_str(),
                    format!("`{}` would overwrite git's own store ({shown}).", effect.by),
                );
            }
            Access::Permissions if effect.recursive || is_closed(case, effect) => {
                permissions(case, effect, found);
            }
            Access::Write if effect.by == "truncate" => truncation(case, effect, found),
            Access::Write if effect.by == "sed" && deletes_lines(case) => truncation_of(effect, found),
            Access::Write if matches!(effect.by.as_str(), ">" | "cp" | "dd" | "tee") => {
                overwriting(case, effect, found);
            }
            _ => {}
        }
    }
}

/// Folders that people write, by the names they usually have.
const WRITTEN: &[&str] = &[
    "src",
    "crates",
    "migrations",
    "tests",
    "test",
    "docs",
    "lib",
    "app",
    "packages",
    "scripts",
    "cmd",
    "internal",
    "include",
    "spec",
];

/// Folders of these names are never made by a build.
const ONLY_WRITTEN: &[&str] = &["src", "crates", "migrations"];

/// Whole folders of what the project is made of, removed at once.
fn sources(case: &Case<'_>, found: &mut Found) {
    let project = case.ctx.project.trim_end_matches('/');
    let removed = |effect: &PathEffect| {
        if effect.access != Access::Delete {
            return None;
        }
        let (folder, whole) = folder_of(&effect.target.path)?;
        let name = folder.strip_prefix(project)?.strip_prefix('/')?;
        // Moved or packed away, they are still there, unless they are removed from where they went.
        let kept = (effect.by.ends_with("mv") || effect.by == "tar")
            && !case.effects.paths.iter().any(|other| {
                other.access == Access::Delete
                    && other.by == "rm"
                    && other.target.literal().is_some_and(|path| path.rsplit('/').next() == Some(name))
            });
        if kept || !(effect.recursive || whole) {
            return None;
        }
        WRITTEN.iter().find(|known| **known == name).copied()
    };
    let mut names: Vec<&str> = case.effects.paths.iter().filter_map(removed).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 || names.iter().any(|name| ONLY_WRITTEN.contains(name)) {
        found.add(&SOURCES, format!("This would remove what the project is made of ({}).", names.join(", ")));
    }
    for effect in case.effects.paths.iter().filter(|effect| effect.access == Access::Delete) {
        if is_every_source(project, &effect.target.path) {
            let shown = effect.target.path.to_string();
            found.add_at(
                &SOURCES,
                shown.as_str(),
                format!("`{}` would remove every such file ({shown}).", effect.by),
            );
        }
    }
}

/// Endings of what people write. What compilers make of it is made again.
const SOURCE_ENDINGS: &[&str] = &[
    "*.rs", "*.ts", "*.tsx", "*.jsx", "*.vue", "*.svelte", "*.py", "*.go", "*.java", "*.kt", "*.scala",
    "*.c", "*.cc", "*.cpp", "*.h", "*.hpp", "*.cs", "*.rb", "*.php", "*.swift", "*.ex", "*.exs", "*.hs",
    "*.ml", "*.lua", "*.sql", "*.tf", "*.md", "*.dart", "*.zig",
];

/// Whether all files of one language are meant, in the whole project or in a folder that people write.
fn is_every_source(project: &str, path: &Text) -> bool {
    if !path.has_origin(Origin::Below) {
        return false;
    }
    let folder = path.prefix().trim_end_matches('/');
    let Some(below) = folder.strip_prefix(project) else { return false };
    let below = below.trim_start_matches('/');
    (below.is_empty() || WRITTEN.contains(&below)) && is_all_of_a_language(path)
}

/// `*.rs` and its kin.
fn is_all_of_a_language(path: &Text) -> bool {
    SOURCE_ENDINGS.contains(&path.file_name().to_string().to_ascii_lowercase().as_str())
}

fn removal(case: &Case<'_>, effect: &PathEffect, found: &mut Found) {
    let ctx = case.ctx;
    let target = &effect.target;
    let shown = target.path.to_string();
    let by = &effect.by;
    if effect.by != "git rm"
        && effect.by != "git mv"
        && (HISTORY_PARTS.iter().any(|pattern| hits(target, pattern, ctx))
            || target.path.prefix().ends_with("/.git/") && target.path.has_origin(Origin::Below))
    {
        found.add_at(&HISTORY, shown.as_str(), format!("`{by}` would remove git's own store ({shown})."));
        return;
    }
    if effect.recursive && is_found_project(case, &target.path) {
        found.add_at(&PROJECT, shown.as_str(), format!("`{by}` would remove the whole project ({shown})."));
        return;
    }
    let Some((folder, whole)) = folder_of(&target.path) else {
        let unseen =
            effect.recursive && (begins_unknown(&target.path) || is_unknown_child(case, &target.path));
        if unseen || is_found_outside(case, &target.path) {
            found.add_at(
                &OUTSIDE,
                shown.as_str(),
                format!("`{by}` would remove something that cannot be seen ({shown})."),
            );
        }
        return;
    };
    // Where links lead, the project and home are compared by where they really are, too.
    let real_root = |root: &str| if target.real.is_empty() { None } else { follow(root, ctx.fs) };
    let (real_project, real_home) = (real_root(ctx.project), real_root(ctx.home));
    let own = |root: &str, real: &Option<String>, place: &str| {
        is_within(root, place) || real.as_deref().is_some_and(|real| is_within(real, place))
    };
    let places: Vec<&str> =
        std::iter::once(folder.as_str()).chain(target.real.iter().map(String::as_str)).collect();
    for place in places {
        let contents = whole && place == folder;
        if !effect.recursive && !contents && !is_root_like(place) {
            continue;
        }
        if is_root_like(place) || is_system(place) {
            found.add_at(
                &ROOT,
                shown.as_str(),
                format!("`{by}` would remove {shown}, a part of the system."),
            );
        } else if own(ctx.home, &real_home, place) {
            found.add_at(&HOME, shown.as_str(), format!("`{by}` would remove the home folder ({shown})."));
        } else if own(ctx.project, &real_project, place) && !is_temporary_project(ctx.project, place) {
            found.add_at(
                &PROJECT,
                shown.as_str(),
                format!("`{by}` would remove the whole project ({shown})."),
            );
        } else if effect.recursive && !by.ends_with("mv") && is_foreign(case, place) {
            found.add_at(
                &OUTSIDE,
                shown.as_str(),
                format!("`{by}` would remove a tree outside the project ({shown})."),
            );
        } else {
            continue;
        }
        return;
    }
}

/// Whether a known path is the history itself.
fn is_history(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.target.literal().is_some()
        && HISTORY_PARTS.iter().any(|pattern| hits(&effect.target, pattern, case.ctx))
}

/// Whether what `find` looks for by name can be the project itself.
fn is_found_project(case: &Case<'_>, path: &Text) -> bool {
    let name = case.ctx.project.rsplit('/').next();
    let folder = path.prefix().trim_end_matches('/');
    path.has_origin(Origin::Below)
        && path.file_name().literal() == name
        && is_within(case.ctx.project, folder)
        && case.ctx.project != folder
}

/// Whether `find` goes through home or the folders around the project for what is not made again by itself.
fn is_found_outside(case: &Case<'_>, path: &Text) -> bool {
    const REMADE: &[&str] = &[
        ".DS_Store",
        "*.pyc",
        "__pycache__",
        "node_modules",
        "*.log",
        "*.tmp",
        "*.swp",
        "*~",
        "*.bak",
        "*.orig",
        ".pytest_cache",
        "target",
        "dist",
        "build",
        "Thumbs.db",
        "*.rej",
        ".mypy_cache",
        ".ruff_cache",
    ];
    let folder = path.prefix().trim_end_matches('/');
    path.0.get(1) == Some(&Piece::Hole(Origin::Below))
        && is_within(case.ctx.project, folder)
        && folder != case.ctx.project
        && !REMADE.contains(&path.file_name().to_string().as_str())
}

/// A removal of a folder, or of everything in it: `x/*` counts as `x`.
fn folder_of(path: &Text) -> Option<(String, bool)> {
    if let Some(known) = path.literal() {
        return Some((known.to_owned(), false));
    }
    let name = path.file_name();
    let all = name.0.iter().all(|piece| {
        matches!(piece, Piece::Star | Piece::One)
            || matches!(piece, Piece::Lit(dot) if dot == "." || dot == "..")
    });
    let known = path.prefix();
    let below = path.0.len() == 2 && all && known.ends_with(['/', '.']);
    if below {
        let folder = known.trim_end_matches('.').trim_end_matches('/');
        return Some((if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, true));
    }
    // All that lies below a folder, at any depth.
    let tail = path.0.get(1..).unwrap_or_default();
    if tail == [Piece::Hole(Origin::Below)]
        || tail.first() == Some(&Piece::Star)
            && known.ends_with('/')
            && tail.iter().all(|piece| match piece {
                Piece::Star => true,
                Piece::Lit(text) => text == "/",
                _ => false,
            })
    {
        let folder = known.trim_end_matches('/');
        return Some((if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, true));
    }
    if path.has_hole() {
        // `find / … -name x -delete`: everything below is within reach, but only what the names allow.
        let below = path.0.get(1) == Some(&Piece::Hole(Origin::Below));
        let folder = known.trim_end_matches('/');
        if below && (folder.is_empty() || is_root_like(folder)) {
            return Some(("/".to_owned(), true));
        }
        return None;
    }
    // `/u*` or `/home/*/x`: judged by where the glob begins.
    let at = known.rfind('/')?;
    let depth = known[..=at].matches('/').count();
    (depth <= 1).then(|| ("/".to_owned(), true))
}

/// `$x`, `$x/` and `$x/*`: with nothing known before or after, it may be anything.
fn begins_unknown(path: &Text) -> bool {
    let Some(Piece::Hole(origin)) = path.0.first() else { return false };
    if matches!(origin, Origin::Temporary | Origin::Below) {
        return false;
    }
    path.0[1..].iter().all(|piece| match piece {
        Piece::Lit(text) => text.trim_matches(['/', '.']).is_empty(),
        Piece::Star | Piece::One | Piece::Hole(_) => true,
    })
}

/// `~/$x` and `/$x`: with an empty or unlucky value, that is the folder itself or anything in it.
fn is_unknown_child(case: &Case<'_>, path: &Text) -> bool {
    let [Piece::Lit(known), Piece::Hole(origin), rest @ ..] = path.0.as_slice() else { return false };
    let Some(folder) = known.strip_suffix('/') else { return false };
    let tail = rest
        .iter()
        .all(|piece| matches!(piece, Piece::Lit(text) if text.trim_matches(['/', '.']).is_empty()));
    let broad =
        folder.is_empty() || is_root_like(folder) || folder == case.ctx.home || folder == case.ctx.project;
    tail && broad && !matches!(origin, Origin::Temporary | Origin::Below)
}

fn is_root_like(place: &str) -> bool {
    matches!(place, "/" | "/home" | "/Users" | "/root" | "/c" | "/mnt" | "/mnt/c" | "C:" | "C:/")
}

fn is_system(place: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/lib",
        "/lib32",
        "/lib64",
        "/opt",
        "/proc",
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/System",
        "/Library",
        "/Applications",
        "/private",
        "/var/lib",
        "/var/log",
        "/usr/bin",
        "/usr/lib",
        "/usr/local",
        "/usr/sbin",
        "/usr/share",
        "/Volumes",
        "C:/Windows",
        "C:/Users",
        "/nix",
        "/snap",
        "/media",
    ];
    FOLDERS.contains(&place)
        || is_within(place, "/etc")
        || is_within(place, "/boot")
        || is_within(place, "/System")
        || is_within(place, "/bin")
}

/// A project that itself lives in a temporary folder may be cleared away from there.
fn is_temporary_project(project: &str, place: &str) -> bool {
    is_temporary(project) && place != project && !is_within(project, place)
}

fn is_foreign(case: &Case<'_>, place: &str) -> bool {
    let ctx = case.ctx;
    let start = ctx.cwd;
    if is_within(place, ctx.project) || is_temporary(place) && !matches!(place, "/tmp" | "/var/tmp") {
        return false;
    }
    if follow(ctx.project, ctx.fs).is_some_and(|real| is_within(place, &real)) {
        return false;
    }
    // The folder the session works in may be another one than the project's, but not all of home.
    if is_within(place, start) && start.matches('/').count() > 2 && start != ctx.home {
        return false;
    }
    if CACHES.iter().any(|pattern| hits_str(place, pattern, ctx)) {
        return false;
    }
    place.starts_with('/') || place.as_bytes().get(1) == Some(&b':')
}

fn hits_str(place: &str, pattern: &str, ctx: &crate::Context<'_>) -> bool {
    super::places::matches_configured(pattern, place, ctx)
}

/// Whether a root, home or the project itself is opened or closed, which counts for all that is in it.
fn is_closed(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.by == "chmod"
        && effect.target.literal().is_some_and(|place| {
            is_root_like(place) || [case.ctx.home, case.ctx.project].contains(&place.trim_end_matches('/'))
        })
        && case.runs().any(|run| run.name == "chmod" && OPEN_MODES.contains(&run.arg(0)))
}

fn permissions(case: &Case<'_>, effect: &PathEffect, found: &mut Found) {
    let ctx = case.ctx;
    let shown = effect.target.path.to_string();
    let open = case.runs().any(|run| {
        run.name == "chmod" && run.args.iter().any(|arg| OPEN_MODES.contains(&arg.to_string().as_str()))
    });
    let broad = match folder_of(&effect.target.path) {
        Some((folder, _)) => {
            is_root_like(&folder)
                || is_system(&folder)
                || is_within(ctx.home, &folder)
                || (!is_within(&folder, ctx.project) && !is_temporary(&folder))
        }
        None => begins_unknown(&effect.target.path),
    };
    let whole_project =
        folder_of(&effect.target.path).is_some_and(|(folder, _)| is_within(ctx.project, &folder));
    if open || broad || (whole_project && effect.by != "chmod") {
        found.add_at(
            &PERMISSIONS,
            shown.as_str(),
            format!("`{}` would change the permissions of a whole tree ({shown}).", effect.by),
        );
    }
}

/// Every file of the project gets other content: `find . -type f -exec cp /dev/null {} \;`.
fn overwriting(case: &Case<'_>, effect: &PathEffect, found: &mut Found) {
    let path = &effect.target.path;
    if let Some(file) = effect.target.literal().filter(|file| is_emptied(case, effect, file)) {
        found.add_at(&TRUNCATE, file, format!("`{}` would empty {file}.", effect.by));
        return;
    }
    let folder = match folder_of(path) {
        Some((folder, true)) => folder,
        _ if is_all_of_a_language(path) && path.has_glob() => path.prefix().trim_end_matches('/').to_owned(),
        _ => return,
    };
    let project = case.ctx.project.trim_end_matches('/');
    let written = folder.strip_prefix(project).and_then(|below| below.strip_prefix('/'));
    if is_within(project, &folder) || written.is_some_and(|name| ONLY_WRITTEN.contains(&name)) {
        found.add_at(
            &TRUNCATE,
            path.to_string(),
            format!("`{}` would overwrite every file in {path}.", effect.by),
        );
    }
}

/// Whether a file that people write gets nothing for its content: `cp /dev/null src/main.rs`.
fn is_emptied(case: &Case<'_>, effect: &PathEffect, file: &str) -> bool {
    let from_nothing = |run: &crate::effects::Run| {
        run.name == effect.by && (run.has("/dev/null") || run.has("if=/dev/null"))
    };
    matches!(effect.by.as_str(), "cp" | "dd")
        && is_within(file, case.ctx.project)
        && SOURCE_ENDINGS.iter().any(|ending| file.ends_with(&ending[1..]))
        && case.runs().any(from_nothing)
}

/// `sed -i d`: every line is taken out.
fn deletes_lines(case: &Case<'_>) -> bool {
    case.runs().any(|run| {
        matches!(run.name.as_str(), "sed" | "gsed")
            && run.args.iter().any(|arg| matches!(arg.known(), "d" | "1,$d" | "/.*/d" | "/^/d"))
    })
}

fn truncation_of(effect: &PathEffect, found: &mut Found) {
    let shown = effect.target.path.to_string();
    found.add_at(&TRUNCATE, shown.as_str(), format!("`{}` would empty {shown}.", effect.by));
}

fn truncation(case: &Case<'_>, effect: &PathEffect, found: &mut Found) {
    let shown = effect.target.path.to_string();
    let passing = has_extension(&shown, &["log"])
        || is_temporary(&shown)
        || shown.contains("/target/")
        || shown.contains("/logs/");
    let shrinks = case.runs().any(|run| {
        run.name == "truncate"
            && !run.args.iter().any(|arg| {
                // A size with a unit makes room; a small number or nothing takes it away.
                let size = arg.to_string();
                let size =
                    size.trim_start_matches("--size=").trim_start_matches("-s").trim_start_matches('+');
                size.starts_with(|c: char| c.is_ascii_digit() && c != '0')
                    && size.ends_with(|c: char| c.is_alphabetic())
            })
    });
    if shrinks && !passing {
        found.add_at(&TRUNCATE, shown.as_str(), format!("`truncate` would empty {shown}."));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn roots_homes_and_projects_are_kept() {
        stops(&[
            ("rm -rf /", "destructive-files/root"),
            ("r''m -r --no-preserve-root -f /*", "destructive-files/root"),
            ("$'\\x72m' -rf /", "destructive-files/root"),
            ("{rm,-rf,/}", "destructive-files/root"),
            ("rm${IFS}-rf${IFS}/usr", "destructive-files/root"),
            ("rm -rf ~", "destructive-files/home"),
            ("cd ~ && rm -rf *", "destructive-files/home"),
            ("rm -rf \"$HOME/\"", "destructive-files/home"),
            ("rm -rf .", "destructive-files/project"),
            ("rm -rf ../app", "destructive-files/project"),
            ("find . -delete", "destructive-files/project"),
            ("find / -name '*.log' -delete", "destructive-files/root"),
            ("rm -rf .git", "destructive-files/git-folder"),
            ("find . -name .git -exec rm -rf {} +", "destructive-files/git-folder"),
            ("rm -rf ~/proj/other", "destructive-files/outside"),
            ("rm -rf \"$DIR\"/*", "destructive-files/outside"),
            ("chmod -R 777 .", "destructive-files/permissions"),
            ("truncate -s 0 src/main.rs", "destructive-files/truncate"),
            ("tmux new -d 'rm -rf /'", "destructive-files/root"),
            ("cp /bin/rm ok && ./ok -rf /", "destructive-files/root"),
            ("alias k='rm -rf'; k ~", "destructive-files/home"),
            ("git ls-files | xargs rm", "destructive-files/project"),
            ("find . -type f -exec rm {} +", "destructive-files/project"),
            ("docker run -v $PWD:/w alpine rm -rf /w", "destructive-files/project"),
            ("echo > .git/HEAD", "destructive-files/git-folder"),
            ("find . -type f -exec cp /dev/null {} \\;", "destructive-files/truncate"),
        ]);
    }

    #[test]
    fn build_output_and_temporary_files_go_freely() {
        passes(&[
            "rm -rf target node_modules/.cache",
            "rm -f src/*.orig",
            "rm -rf ./dist/*",
            "rm -rf /tmp/proj-1",
            "d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT",
            "find . -name '*.pyc' -delete",
            "rm -f .git/index.lock",
            "cd /tmp && rm -rf x && mkdir x",
            "rm -rf ~/.cache/pip",
            "chmod -R u+w target",
            "chmod +x run.sh",
            "git ls-files -d | xargs rm -f",
            "git ls-files | xargs wc -l",
            "find . -name dist -type d -not -path '*/node_modules/*' -exec rm -rf {} +",
            "docker run --rm -v $PWD:/w -w /w alpine rm -rf dist",
            "tmux new -d 'npm run dev'",
            "alias ll='ls -la'; ll",
            "truncate -s 10M disk.img",
        ]);
    }
}
