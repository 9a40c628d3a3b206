//! How the guard reads calls of tools that MCP servers offer. It knows none of them: a tool's name says what it
//! does, and the names of its fields say to what. Each test is an example of one thing that `src/effects/mcp/`
//! understands.

use context_graph_policy::effects::{Access, Effects, ListedFileSystem, Privilege, SentKind, Unknown};
use serde_json::{Value, json};

/// The effects of a call of `server__tool`.
fn effects(tool: &str, input: &Value) -> Effects {
    super::of_call(&format!("mcp__{tool}"), input, &ListedFileSystem::default())
}

fn runs(tool: &str, input: &Value) -> Vec<String> {
    super::runs(&effects(tool, input))
}

/// The paths that would be touched, and how.
fn touched(tool: &str, input: &Value) -> Vec<(Access, String)> {
    let effects = effects(tool, input);
    effects.paths.iter().map(|effect| (effect.access, effect.target.path.to_string())).collect()
}

fn paths(tool: &str, input: &Value, access: Access) -> Vec<String> {
    super::paths(&effects(tool, input), access)
}

fn removed(tool: &str, input: &Value) -> Vec<String> {
    paths(tool, input, Access::Delete)
}

#[test]
fn the_name_of_a_tool_says_what_it_does_or_else_a_field() {
    let file = json!({"path": "a"});
    let done = |access: Access| [(access, "/app/a".to_owned())];
    assert_eq!(touched("fs__read_file", &file), done(Access::Read));
    assert_eq!(touched("fs__write_file", &file), done(Access::Write));
    for tool in ["fs__delete_file", "fs__deleteFile", "fs__delete-file", "fs__file_delete"] {
        assert_eq!(touched(tool, &file), done(Access::Delete), "{tool}");
    }
    assert_eq!(touched("fs__manage", &json!({"action": "delete", "path": "a"})), done(Access::Delete));
    // A word that says nothing, and metadata that are no content.
    assert_eq!(touched("fs__frobnicate", &file), done(Access::Mention));
    assert_eq!(touched("fs__get_file_info", &file), []);
}

#[test]
fn fields_named_like_paths_hold_paths_and_others_hold_text() {
    let two = json!({"paths": ["a", "b"]});
    assert_eq!(paths("fs__read_multiple_files", &two, Access::Read), ["/app/a", "/app/b"]);
    let two = json!({"files": [{"path": "a", "content": "/etc/x"}, {"path": "~/b", "content": ""}]});
    assert_eq!(paths("fs__write_files", &two, Access::Write), ["/app/a", "/home/dev/b"]);
    // In a table of files the keys are the names.
    let table = json!({"files": {"src/a.rs": "x", "src/b.rs": "y"}});
    assert_eq!(paths("fs__write_files", &table, Access::Write), ["/app/src/a.rs", "/app/src/b.rs"]);
    let edit = json!({"filePath": "a", "edits": [{"oldText": "/etc/x", "newText": "/etc/y"}]});
    assert_eq!(touched("fs__edit_file", &edit), [(Access::Write, "/app/a".to_owned())]);
    // The path of what a tool removes may be in any field, if the value must be a path and is not ordinary text.
    let input = json!({"what": "/app/a", "note": "/app/b", "uri": "file:///app/c%20d"});
    assert_eq!(removed("fs__delete", &input), ["/app/a", "/app/c d"]);
    // Too many values to look at all of them.
    let many: Vec<Value> = (0..300).map(|at| json!({"path": format!("f{at}")})).collect();
    let unknowns = effects("fs__read_files", &json!({ "files": many })).unknowns;
    assert_eq!(unknowns, [Unknown::Opaque("mcp__fs__read_files".to_owned())]);
}

#[test]
fn a_name_belongs_to_the_folder_beside_it() {
    let contains = |input: &Value, path: &str| removed("fs__delete_file", input).contains(&path.to_owned());
    assert!(contains(&json!({"directory": "src", "name": "x"}), "/app/src/x"));
    assert!(contains(&json!({"root": "src", "path": "x"}), "/app/src/x"));
    assert!(!contains(&json!({"root": "src", "path": "x"}), "/app/src"));
    assert!(contains(&json!({"path": ["src", "x"]}), "/app/src/x"));
    // An absolute path is not joined with another folder, and a name alone is not a path.
    assert_eq!(removed("fs__delete_file", &json!({"root": "src", "path": "/x"})), ["/x"]);
    assert_eq!(removed("fs__delete_file", &json!({"name": "x", "title": "y"})), Vec::<String>::new());
}

#[test]
fn a_moved_file_is_removed_and_a_copied_one_is_read() {
    let input = json!({"source": "a", "destination": "b"});
    assert_eq!(removed("fs__move_file", &input), ["/app/a"]);
    assert_eq!(paths("fs__move_file", &input, Access::Write), ["/app/b"]);
    assert_eq!(removed("fs__copy_file", &input), Vec::<String>::new());
    assert_eq!(paths("fs__copy_file", &input, Access::Read), ["/app/a"]);
    assert_eq!(paths("fs__copy_file", &input, Access::Write), ["/app/b"]);
}

#[test]
fn a_patch_changes_the_files_that_it_names() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+z\n*** End Patch\n";
    let input = json!({"changes": [{"any": patch}]});
    assert_eq!(paths("editor__apply_patch", &input, Access::Write), ["/app/a", "/app/b"]);
    assert_eq!(touched("notes__add_comment", &input), []);
}

#[test]
fn commands_are_read_as_a_shell_reads_them() {
    let command = json!({"command": "cd src && rm a > log"});
    assert_eq!(removed("shell__run_command", &command), ["/app/src/a"]);
    for input in [
        json!({"command": "rm", "args": ["-r", "a b"]}),
        json!({"command": ["rm", "-r", "a b"]}),
        json!({"argv": ["rm", "-r", "a b"]}),
        json!({"command": "bash", "stdin": "rm -r 'a b'"}),
        json!({"line": "rm -r 'a b'", "description": "rm c"}),
    ] {
        assert_eq!(removed("shell__run", &input), ["/app/a b"], "{input}");
    }
    assert_eq!(removed("shell__run", &json!({"command": "rm a", "cwd": "/srv"})), ["/srv/a"]);
    assert_eq!(removed("shell__run", &json!({"command": "rm ../a", "cwd": "src"})), ["/app/a"]);
    // Text about commands is not a command.
    for tool in ["linear__create_issue", "docs__search", "slack__post_message"] {
        let text =
            json!({"title": "rm a", "description": "rm b", "query": "rm c", "text": "rm d", "input": "rm e"});
        assert_eq!(effects(tool, &text), Effects::default(), "{tool}");
    }
}

#[test]
fn a_tools_input_may_be_one_level_deeper() {
    for input in [
        json!({"arguments": {"command": "rm a"}}),
        json!({"arguments": "{\"command\": \"rm a\"}"}),
        json!({"steps": [{"command": "ls"}, {"command": "rm a"}]}),
        json!({"calls": [{"tool": "run", "parameters": {"command": "rm a"}}]}),
        json!({"job": {"first": {"command": "rm a"}}}),
    ] {
        assert_eq!(removed("x__do", &input), ["/app/a"], "{input}");
    }
    assert_eq!(removed("fs__delete_file", &json!({"params": {"path": "a"}})), ["/app/a"]);
    // The call's folder also applies to its steps. A step's own folder applies only to that step.
    let steps = json!({"cwd": "src", "steps": [{"command": "rm a"}, {"command": "rm b", "cwd": "/srv"}]});
    assert_eq!(removed("x__do", &steps), ["/app/src/a", "/srv/b"]);
    for input in [json!({"note": "{\"command\": \"rm a\"}"}), json!({"job": {"note": "rm a"}})] {
        assert_eq!(effects("x__do", &input), Effects::default(), "{input}");
    }
}

#[test]
fn text_typed_into_a_terminal_runs_there() {
    let typed = json!({"text": "rm a{enter}rm b"});
    assert_eq!(removed("tmux__send_text", &typed), ["/app/a", "/app/b"]);
    let typed = json!({"action": "type", "text": "rm a\n"});
    assert_eq!(removed("desktop__computer", &typed), ["/app/a"]);
    // In a page it is only text.
    assert_eq!(removed("browser__type", &json!({"element": "#q", "text": "rm a"})), Vec::<String>::new());
}

#[test]
fn code_in_a_field_is_read_in_its_language() {
    let cell = json!({"code": "import os\n# os.remove('x')\nos.remove('a')\n!rm b"});
    assert_eq!(removed("jupyter__execute_cell", &cell), ["/app/a", "/app/b"]);
    assert_eq!(removed("x__run", &json!({"python_code": "os.remove('a')"})), ["/app/a"]);
    let script = json!({"js": "// fs.unlinkSync('x')\nfs.unlinkSync('a')"});
    assert_eq!(removed("x__run", &script), ["/app/a"]);
    // Code that is only kept does nothing.
    assert_eq!(removed("notes__create_note", &cell), Vec::<String>::new());
}

#[test]
fn a_tool_named_after_a_program_stands_for_it() {
    let push = json!({"remote": "origin", "branch": "main", "force": true});
    assert_eq!(runs("git__git_push", &push), ["git push --force origin main"]);
    let reset = json!({"mode": "hard", "commit": "HEAD~1"});
    assert_eq!(runs("git__git_reset", &reset), ["git reset --hard HEAD~1"]);
    let delete = json!({"subcommand": "repo delete a/b", "args": "--yes"});
    assert_eq!(runs("x__gh", &delete), ["gh repo delete a/b --yes"]);
    // A forge's branch is set to another commit.
    let update = |force: bool| runs("github__update_ref", &json!({"ref": "heads/main", "force": force}));
    assert_eq!(update(true), ["git push --force origin main"]);
    assert_eq!(update(false), Vec::<String>::new());
    assert_eq!(runs("git__git_status", &json!({"repo_path": "/app"})), Vec::<String>::new());
}

#[test]
fn a_database_is_sent_statements() {
    let drop = json!({"query": "DROP TABLE users"});
    assert_eq!(runs("postgres__query", &drop), ["sql DROP TABLE users"]);
    assert_eq!(runs("docs__search", &drop), Vec::<String>::new());
    assert_eq!(runs("redis__flushall", &json!({})), ["sql flushall()"]);
    let sends_all = |filter: Value| {
        let input = json!({"collection": "users", "filter": filter});
        runs("mongo__delete_many", &input).contains(&"sql deleteMany({})".to_owned())
    };
    assert!(sends_all(json!({})));
    assert!(!sends_all(json!({"id": 1})));
}

#[test]
fn what_a_server_would_delete_for_good_is_a_deletion_and_small_things_are_not() {
    let deletes = |tool: &str, input: Value| runs(tool, &input).contains(&format!("mcp-delete mcp__{tool}"));
    assert!(deletes("github__delete_repository", json!({"repo": "r"})));
    assert!(deletes("github__delete_branch", json!({"branch": "main"})));
    assert!(deletes("acme__delete_customer", json!({"id": "1"})));
    assert!(deletes("acme__customers", json!({"action": "delete", "id": "1"})));
    assert!(deletes("http__request", json!({"method": "DELETE", "url": "https://example.com/users/1"})));
    assert!(deletes("k8s__scale_deployment", json!({"name": "web", "replicas": 0})));
    assert!(deletes("github__update_repository", json!({"name": "r", "visibility": "public"})));

    assert!(!deletes("github__delete_branch", json!({"branch": "topic"})));
    assert!(!deletes("linear__delete_comment", json!({"id": "1"})));
    assert!(!deletes("acme__list_customers", json!({"id": "1"})));
    assert!(!deletes("http__request", json!({"method": "DELETE", "url": "http://localhost:3000/users/1"})));
    assert!(!deletes("k8s__scale_deployment", json!({"name": "web", "replicas": 2})));
    // A file has a path, and the rules for paths judge that.
    assert!(!deletes("fs__delete_file", json!({"path": "a"})));
}

#[test]
fn a_message_may_carry_a_file_or_a_credential() {
    let mail = json!({"attachments": ["report.pdf"], "body": "see /etc/hosts"});
    assert_eq!(touched("mail__send_email", &mail), [(Access::Read, "/app/report.pdf".to_owned())]);
    let curl = json!({"data": "@/app/report.csv"});
    assert_eq!(paths("x__upload", &curl, Access::Read), ["/app/report.csv"]);
    let file = json!({"path": "a"});
    assert_eq!(paths("drive__upload_file", &file, Access::Read)[0], "/app/a");
    assert_eq!(paths("drive__upload_file", &file, Access::Write), Vec::<String>::new());
    let sent = |tool: &str, input: &Value| -> Vec<SentKind> {
        effects(tool, input).sends.iter().map(|sent| sent.kind).collect()
    };
    let secret = json!({"body": format!("ghp_{}", "a1B2c3D4e5F6g7H8i9".repeat(2))});
    assert_eq!(sent("mail__send_email", &secret), [SentKind::Credential]);
    assert_eq!(sent("notes__list", &secret), []);
    assert_eq!(sent("mail__send_email", &json!({"body": "hello"})), []);
    // The address where a cloud's machines get their credentials.
    assert_eq!(sent("web__fetch", &json!({"url": "http://169.254.169.254/latest"})), [SentKind::Nothing]);
    assert_eq!(sent("web__fetch", &json!({"url": "https://example.com"})), []);
}

#[test]
fn a_container_that_gets_the_whole_machine_is_a_privilege() {
    let run = |input: Value| effects("docker__run_container", &input).privileges;
    let whole = [Privilege::Container("mcp__docker__run_container".to_owned())];
    assert_eq!(run(json!({"volumes": ["/:/host"]})), whole);
    assert_eq!(run(json!({"mounts": [{"source": "/var/run/docker.sock"}]})), whole);
    assert_eq!(run(json!({"privileged": true})), whole);
    assert_eq!(run(json!({"volumes": ["./src:/src"], "privileged": false})), []);
}
