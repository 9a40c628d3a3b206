//! `curl`, `wget` and their kin: what a request carries, and where its answer goes.

use super::{host_of, operands, option_values};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Cargo, Origin, Run, Text};

const CURL_VALUES: &[&str] = &[
    "-X",
    "--request",
    "-H",
    "--header",
    "-o",
    "--output",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "-u",
    "--user",
    "-A",
    "--user-agent",
    "-e",
    "--referer",
    "-b",
    "--cookie",
    "-c",
    "--cookie-jar",
    "-x",
    "--proxy",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-w",
    "--write-out",
    "--retry",
    "--cacert",
    "--cert",
    "--key",
    "-K",
    "--config",
    "-E",
    "--json",
    "--resolve",
    "-r",
    "--range",
    "--retry-delay",
    "--url",
    "--form-string",
    "--post-file",
    "--post-data",
    "--body-file",
    "--body-data",
    "--method",
    "-O",
    "-P",
    "--output-document",
    "-t",
    "--tries",
    "-Y",
    "-y",
    "-C",
    "--unix-socket",
    "-D",
    "--dump-header",
    "-i",
    "-U",
    "-Q",
];

/// Letters of curl's short options that take a value.
const CURL_LETTERS: &str = "AbcCdDeEFHKmoPQrtTuUwxXyYz";

/// curl's words with bundles such as `-sF x` taken apart: each option stands alone, its value behind it.
fn unbundled(args: &[Text]) -> Vec<Text> {
    let mut words = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let prefix = arg.prefix();
        let Some(letters) = prefix.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            words.push(arg.clone());
            continue;
        };
        if letters.starts_with('-') {
            words.push(arg.clone());
            if arg.literal().is_some_and(|text| CURL_VALUES.contains(&text)) {
                words.extend(rest.next().cloned());
            }
            continue;
        }
        let mut before = String::from("-");
        for letter in letters.chars() {
            before.push(letter);
            words.push(Text::lit(format!("-{letter}")));
            if CURL_LETTERS.contains(letter) {
                let value = arg.strip_prefix(&before).filter(|value| !value.is_empty());
                words.extend(value.or_else(|| rest.next().cloned()));
                break;
            }
        }
    }
    words
}

impl Shell<'_> {
    pub(super) fn request(&mut self, run: &Run, stdin: &Flow) {
        let name = run.name.as_str();
        let curl = name == "curl";
        let taken_apart = if curl { unbundled(&run.args) } else { Vec::new() };
        let args = if curl { &taken_apart } else { &run.args };
        let (uploads, sent) = carried(name, args);
        let mut cargo = sent;
        if matches!(name, "http" | "https" | "xh" | "httpie") && stdin.piped {
            cargo = cargo.max(stdin.cargo());
        }
        for file in &uploads {
            if matches!(file.literal(), Some("-" | "." | "/dev/stdin")) {
                cargo = cargo.max(stdin.cargo());
            } else if let Some(flow) = self.descriptor(file) {
                cargo = cargo.max(flow.cargo());
            } else {
                self.touch(Access::Read, file, name);
                cargo = cargo.max(Cargo::File);
            }
        }
        let mut saved = option_values(args, "-o", "--output");
        saved.extend(option_values(args, "", "--output-document"));
        if name == "wget" {
            saved = option_values(args, "-O", "--output-document");
        }
        for file in &saved {
            self.touch(Access::Write, file, name);
            self.taint(file, Taint::Network);
        }
        let keeps_name = matches!(name, "wget" | "aria2c") && saved.is_empty()
            || run.has("-O")
            || run.has("--remote-name")
            || run.has_short('O');
        // The folder that files with the server's names go to.
        let mut folder = option_values(args, if curl { "" } else { "-P" }, "--output-dir")
            .into_iter()
            .chain(option_values(args, "", "--directory-prefix"))
            .chain(option_values(args, "-qP", ""))
            .next()
            .unwrap_or_default();
        if !folder.is_empty() {
            folder.push_str("/");
        }
        // The server, a list or a redirection says the name.
        let unnamed = curl && keeps_name && (run.has_short('J') || run.has("--remote-header-name"))
            || matches!(name, "wget" | "aria2c")
                && keeps_name
                && [
                    "-i",
                    "--input-file",
                    "-r",
                    "--recursive",
                    "--content-disposition",
                    "-m",
                    "--trust-server-names",
                ]
                .iter()
                .any(|option| run.has(option));
        if unnamed {
            self.bring_unnamed(&folder, run.has("-r") || run.has("-m") || run.has("--recursive"), name);
        }
        for file in option_values(args, "-K", "--config") {
            self.touch(Access::Read, &file, name);
            let given = if file.known() == "-" { Some(stdin.clone()) } else { self.descriptor(&file) };
            if given.is_some_and(|flow| {
                flow.literal()
                    .is_none_or(|text| ["upload", "data", "form"].iter().any(|word| text.contains(word)))
            }) {
                cargo = cargo.max(Cargo::File);
                self.send(Text::hole(Origin::Output), Cargo::File, name);
            }
        }
        // These two take a value elsewhere, not in curl.
        let valued: Vec<&str> =
            CURL_VALUES.iter().copied().filter(|option| !curl || !matches!(*option, "-O" | "-i")).collect();
        let urls = operands(args, &valued);
        let urls: Vec<Text> = urls.into_iter().cloned().chain(option_values(args, "", "--url")).collect();
        for url in urls {
            if let Some(file) = url.strip_prefix("file://") {
                self.touch(Access::Read, &file, name);
                continue;
            }
            if keeps_name {
                let mut saved = folder.clone();
                saved.extend(&url.file_name());
                if !folder.is_empty() {
                    self.touch(Access::Write, &saved, name);
                }
                let said = saved.file_name().to_string();
                self.bring_named(
                    &folder,
                    std::iter::once(said.split(['?', '#']).next().unwrap_or(&said)),
                    name,
                );
                self.taint(&saved, Taint::Network);
            }
            // An address out of a list of them carries nothing.
            let carried = cargo.max(if url.is_blank() && !url.has_origin(Origin::Credential) {
                Cargo::Nothing
            } else {
                of_text(&url)
            });
            self.send(host_of(&url), carried, name);
        }
    }
}

/// The files that a request names to be sent, and what the rest of it carries.
fn carried(name: &str, args: &[Text]) -> (Vec<Text>, Cargo) {
    let mut cargo = Cargo::Nothing;
    let mut uploads: Vec<Text> = option_values(args, "-T", "--upload-file");
    uploads.extend(option_values(args, "", "--post-file"));
    uploads.extend(option_values(args, "", "--body-file"));
    let mut data: Vec<Text> = Vec::new();
    for (short, long) in [
        ("-d", "--data"),
        ("", "--data-raw"),
        ("", "--data-binary"),
        ("", "--data-urlencode"),
        ("-F", "--form"),
        ("", "--json"),
        ("", "--post-data"),
        ("", "--data-ascii"),
        ("", "--form-string"),
        ("", "--url-query"),
    ] {
        data.extend(option_values(args, short, long));
    }
    if matches!(name, "http" | "https" | "xh" | "httpie") {
        data.extend(operands(args, &[]).into_iter().skip(1).cloned());
        uploads.extend(data.iter().filter(|item| !item.to_string().contains("://")).filter_map(|item| {
            let (name, file) = item.split_once('@')?;
            (!name.is_empty() && !name.to_string().contains(['=', ':'])).then_some(file)
        }));
    }
    // Whatever else goes along with a request can carry a file away. A token for the server itself is meant to.
    for (short, long) in [
        ("-H", "--header"),
        ("-A", "--user-agent"),
        ("-b", "--cookie"),
        ("-e", "--referer"),
        ("-u", "--user"),
    ] {
        for value in option_values(args, short, long) {
            let authorizes = value.prefix().to_ascii_lowercase().starts_with("authorization");
            if !authorizes && value.has_origin(Origin::File) {
                cargo = cargo.max(Cargo::File);
            }
            if short == "-b" && value.has_origin(Origin::Credential) {
                cargo = cargo.max(Cargo::Credential);
            }
        }
    }
    for value in option_values(args, "", "--data-urlencode") {
        // `name@file` without `=` names a file.
        if let Some((name, file)) = value.split_once('@')
            && !name.to_string().contains('=')
        {
            uploads.push(file);
        }
    }
    for value in &data {
        cargo = cargo.max(of_text(value).max(Cargo::Data));
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
    (uploads, cargo)
}

/// What a piece of a request carries.
fn of_text(text: &Text) -> Cargo {
    if text.has_origin(Origin::Credential) || context_graph_secrets::holds_secret(text.prefix()) {
        Cargo::Credential
    } else if text.has_origin(Origin::File) {
        Cargo::File
    } else {
        Cargo::Nothing
    }
}
