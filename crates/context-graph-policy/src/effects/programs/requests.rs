//! `curl`, `wget` and similar: what a request carries, and where the answer is written.

use super::destinations::{is_httpie, items_of, reached, urls};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Origin, SentKind, Text, Unknown};
use crate::programs::Invocation;

impl Shell<'_> {
    pub(super) fn request(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let name = call.run.name.as_str();
        let (uploads, sent) = carried(call);
        let mut kind = sent;
        if is_httpie(name) && stdin.piped {
            kind = kind.max(stdin.sent_kind());
        }
        for file in &uploads {
            if matches!(file.literal(), Some("-" | "." | "/dev/stdin")) {
                kind = kind.max(stdin.sent_kind());
            } else if let Some(flow) = self.descriptor(file) {
                kind = kind.max(flow.sent_kind());
            } else {
                self.touch(Access::Read, file, name);
                kind = kind.max(SentKind::File);
            }
        }
        let saved: Vec<&Text> = call.values(if name == "wget" { "-O" } else { "-o" }).collect();
        for file in &saved {
            self.touch(Access::Write, file, name);
            self.taint(file, Taint::Network);
        }
        let keeps_name = matches!(name, "wget" | "aria2c") && saved.is_empty()
            || name == "curl" && call.has_any(&["-O", "--remote-name-all"]);
        // The folder for files that keep the server's names.
        let folder =
            ["--output-dir", "--directory-prefix", "--dir"].iter().find_map(|option| call.value(option));
        let mut folder = folder.cloned().unwrap_or_default();
        if !folder.is_empty() {
            folder.push_str("/");
        }
        // The name comes from the server, a list or a redirection.
        let recursive = call.has_any(&["-r", "-m"]);
        let unnamed = keeps_name
            && if name == "curl" {
                call.has("-J")
            } else {
                recursive || call.has_any(&["-i", "--content-disposition", "--trust-server-names"])
            };
        if unnamed {
            self.bring_unnamed(&folder, recursive, name);
        }
        for file in call.values("-K") {
            self.touch(Access::Read, file, name);
            let given = if file.known() == "-" { Some(stdin.clone()) } else { self.descriptor(file) };
            if given.is_some_and(|options| may_upload(&options)) {
                kind = kind.max(SentKind::File);
                self.send(Text::hole(Origin::Output), SentKind::File, name);
            }
            self.options_from(file, stdin);
        }
        let mut asked = Vec::new();
        for url in urls(call) {
            if let Some(file) = url.strip_prefix("file://") {
                self.touch(Access::Read, &file, name);
                continue;
            }
            self.fetched_from(&url);
            if keeps_name {
                let mut saved = folder.clone();
                saved.extend(&url.file_name());
                if !folder.is_empty() {
                    self.touch(Access::Write, &saved, name);
                }
                let said = saved.file_name().to_string();
                let said = said.split(['?', '#']).next().unwrap_or(&said);
                self.bring_named(&folder, std::iter::once(said), name);
                self.taint(&saved, Taint::Network);
            }
            // A completely unknown address, such as one from a list, adds nothing to what is sent.
            let is_unknown = url.is_blank() && !url.has_origin(Origin::Credential);
            let carried = if is_unknown { kind } else { kind.max(of_text(&url)) };
            asked.push((url, carried));
        }
        self.send_all(reached(call, &asked, |_| true), name);
    }

    /// Reports what requests carry to which hosts.
    fn send_all(&mut self, hosts: Vec<(Text, SentKind)>, name: &str) {
        if hosts.len() > MAX_HOSTS {
            self.unknown(Unknown::TooLarge);
        }
        for (host, carried) in hosts.into_iter().take(MAX_HOSTS) {
            self.send(host, carried, name);
        }
    }

    /// Runs the command that a file of options describes.
    fn options_from(&mut self, file: &Text, stdin: &Flow) {
        let text = match file.known() {
            "-" => stdin.literal().map(str::to_owned),
            _ => self.read_file(file, MAX_SETTINGS).and_then(|text| String::from_utf8(text).ok()),
        };
        if let Some(words) = text.map(|text| options_in(&text)).filter(|words| words.len() > 1) {
            self.run(words, Vec::new(), &Flow::default());
        }
    }
}

/// How many hosts one call may reach.
const MAX_HOSTS: usize = 64;
/// How much of a file of options is read.
const MAX_SETTINGS: usize = 16 * 1024;

/// The command that a file of options describes: `url = "…"`, `request = DELETE`. A further file that it names is not
/// read.
fn options_in(text: &str) -> Vec<Text> {
    let mut words = vec![Text::lit("curl")];
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines.take(64) {
        let name = line.split([' ', '=', ':', '\t']).next().unwrap_or(line);
        let value = line[name.len()..].trim_start_matches([' ', '=', ':', '\t']).trim_matches('"');
        let name = name.trim_start_matches('-');
        if matches!(name, "config" | "K") {
            continue;
        }
        words.push(Text::lit(if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }));
        if !value.is_empty() {
            words.push(Text::lit(value));
        }
    }
    words
}

/// Options whose value is sent as it is, or names a file with `@`.
const DATA: &[&str] = &[
    "--data",
    "--data-raw",
    "--raw",
    "--data-binary",
    "--data-urlencode",
    "--form",
    "--json",
    "--post-data",
    "--body-data",
    "--data-ascii",
    "--form-string",
    "--url-query",
];

/// The files that a request uploads, and what the rest of it carries.
fn carried(call: &Invocation<'_>) -> (Vec<Text>, SentKind) {
    let mut kind = SentKind::Nothing;
    let files = ["--upload-file", "--post-file", "--body-file"];
    let mut uploads: Vec<Text> = files.iter().flat_map(|option| call.values(option)).cloned().collect();
    let mut data: Vec<Text> = DATA.iter().flat_map(|option| call.values(option)).cloned().collect();
    let mut headers = Vec::new();
    if is_httpie(&call.run.name) {
        let items;
        (headers, items) = items_of(call).iter().copied().cloned().partition::<Vec<Text>, _>(is_header);
        data.extend(items);
        uploads.extend(headers.iter().filter_map(|header| {
            let (name, file) = header.split_once('@')?;
            name.prefix().ends_with(':').then_some(file)
        }));
        uploads.extend(data.iter().filter(|item| !item.to_string().contains("://")).filter_map(|item| {
            let (name, file) = item.split_once('@')?;
            (!name.is_empty() && !name.to_string().contains(['=', ':'])).then_some(file)
        }));
    }
    // Headers and similar values can carry a file away too. A token in `Authorization` is meant for the server.
    for option in ["--header", "--user-agent", "--cookie", "--referer", "--user"] {
        let own = headers.iter().filter(|_| option == "--header");
        for value in call.values(option).chain(own) {
            let authorizes = value.prefix().to_ascii_lowercase().starts_with("authorization");
            if !authorizes && value.has_origin(Origin::File) {
                kind = kind.max(SentKind::File);
            }
            let is_cookie = option == "--cookie"
                || value.prefix().get(..7).is_some_and(|name| name.eq_ignore_ascii_case("cookie:"));
            if is_cookie && value.has_origin(Origin::Credential) {
                kind = kind.max(SentKind::Credential);
            }
        }
    }
    uploads.extend(files_of_options(call));
    for value in &data {
        kind = kind.max(of_text(value).max(SentKind::Data));
        let file = value
            .strip_prefix("@")
            .or_else(|| {
                value.split_once('@').filter(|(head, _)| head.prefix().ends_with('=')).map(|(_, f)| f)
            })
            .or_else(|| {
                value.split_once('<').filter(|(head, _)| head.prefix().ends_with('=')).map(|(_, f)| f)
            });
        if let Some(file) = file {
            let file = file.split_once(';').map_or(file.clone(), |(file, _)| file);
            uploads.push(file);
        }
    }
    (uploads, kind)
}

/// Whether an item of `HTTPie` is a header: `Name:value`, not `name:=json` and not `name=value`.
fn is_header(item: &Text) -> bool {
    let text = item.prefix();
    text.find([':', '=', '@']).is_some_and(|at| text[at..].starts_with(':') && !text[at..].starts_with(":="))
}

/// The files that options such as headers send.
fn files_of_options(call: &Invocation<'_>) -> Vec<Text> {
    let values = |options: &[&str]| -> Vec<Text> {
        options.iter().flat_map(|option| call.values(option)).cloned().collect()
    };
    // `name@file` without `=` names a file; so does `@file`.
    let named = values(&["--data-urlencode", "--url-query", "--variable"]).into_iter().filter_map(|value| {
        let (name, file) = value.split_once('@')?;
        (!name.to_string().contains('=')).then_some(file)
    });
    let headers =
        values(&["--header", "--proxy-header"]).into_iter().filter_map(|value| value.strip_prefix("@"));
    named.chain(headers).collect()
}

/// Whether options that are read from a file or a pipe may upload something.
fn may_upload(options: &Flow) -> bool {
    options.literal().is_none_or(|text| ["upload", "data", "form"].iter().any(|word| text.contains(word)))
}

/// What a part of a request carries.
fn of_text(text: &Text) -> SentKind {
    if text.has_origin(Origin::Credential) || context_graph_secrets::holds_secret(text.prefix()) {
        SentKind::Credential
    } else if text.has_origin(Origin::File) {
        SentKind::File
    } else {
        SentKind::Nothing
    }
}
