//! Texts without a secret: prose, code, placeholders, and the many random strings that are not secrets.

use super::{ALNUM, BASE64, Dice, HEX, SMALL};

/// One text per line.
const LINES: &str = include_str!("harmless.txt");

/// All of them.
pub(crate) fn texts(seed: u64) -> Vec<String> {
    let mut texts: Vec<String> = LINES.lines().map(str::to_owned).collect();
    let mut dice = Dice::new(seed + 31);
    for _ in 0..6 {
        texts.extend(hashes(&mut dice));
        texts.extend(lockfiles(&mut dice));
        texts.extend(data(&mut dice));
    }
    texts.push(format!(
        "https://hooks.slack.com/services/{}/{}/{}",
        "T00000000",
        "B00000000",
        "X".repeat(24)
    ));
    // Also the whole page: a rule must not react to the content of another line.
    texts.push(LINES.lines().filter(|line| !line.contains("-----BEGIN")).collect::<Vec<_>>().join("\n"));
    texts
}

fn hashes(dice: &mut Dice) -> Vec<String> {
    vec![
        dice.draw(HEX, 32),
        dice.draw(HEX, 40),
        dice.draw(HEX, 64),
        dice.draw(HEX, 128),
        dice.uuid(),
        format!("commit {}\nAuthor: Jane", dice.draw(HEX, 40)),
        format!("{}  dist/app.tar.gz", dice.draw(HEX, 64)),
        format!("\"session_id\":\"{}\"", dice.uuid()),
        format!("image: registry.test/app@sha256:{}", dice.draw(HEX, 64)),
        format!("\"requestId\": \"{}\"", dice.draw(ALNUM, 36)),
        format!("etag: W/\"{}\"", dice.draw(HEX, 32)),
        format!("cache_key={}", dice.draw(HEX, 64)),
        format!("token: {}", ["identifier", "keyword"][usize::from(dice.next().is_multiple_of(2))]),
        format!("/nix/store/{}-hello-2.12.1", dice.draw(SMALL, 32)),
        format!("assets/index-{}.js", dice.draw(ALNUM, 8)),
    ]
}

fn lockfiles(dice: &mut Dice) -> Vec<String> {
    let sha512 = format!("{}==", dice.draw(BASE64, 86));
    let sha256 = format!("{}=", dice.draw(BASE64, 43));
    let sha1 = format!("{}=", dice.draw(BASE64, 27));
    vec![
        format!("      \"integrity\": \"sha512-{sha512}\","),
        format!("  integrity sha512-{sha512}"),
        format!("    resolution: {{integrity: sha512-{sha512}}}"),
        format!("\"integrity\": \"sha1-{sha1}\""),
        format!("github.com/pkg/errors v0.9.1 h1:{sha256}"),
        format!("golang.org/x/sync v0.6.0/go.mod h1:{sha256}"),
        format!("checksum = \"{}\"", dice.draw(HEX, 64)),
        format!("    --hash=sha256:{} \\", dice.draw(HEX, 64)),
        format!("pip/_internal/cache.py,sha256={},10734", dice.draw(super::URL_SAFE, 43)),
        format!("  resolved \"https://registry.yarnpkg.com/ms/-/ms-2.1.3.tgz#{}\"", dice.draw(HEX, 40)),
        format!("  checksum: {}", dice.draw(HEX, 128)),
        format!("hash = \"sha256-{sha256}\";"),
    ]
}

fn data(dice: &mut Dice) -> Vec<String> {
    let lines: Vec<String> = (0..8).map(|_| dice.draw(ALNUM, 64)).collect();
    let wide: Vec<String> = (0..5).map(|_| dice.draw(BASE64, 76)).collect();
    vec![
        format!("data:image/png;base64,iVBORw0KGgo{}", dice.draw(BASE64, 900)),
        format!(
            "{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo{}\"}}",
            dice.draw(BASE64, 500)
        ),
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", lines.join("\n")),
        format!("-----BEGIN PUBLIC KEY-----\\n{}\\n-----END PUBLIC KEY-----", lines.join("\\n")),
        format!("Content-Transfer-Encoding: base64\n\n{}\n", wide.join("\n")),
        format!("    {}\n    {}\n", lines[0], lines[1]),
        format!(
            "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz{}",
            dice.draw(BASE64, 300)
        ),
        format!("AAAAB3NzaC1yc2E{} me@laptop", dice.draw(BASE64, 300)),
        format!("function _{}(e,t){{return e.{}(t)}}", dice.draw(SMALL, 6), dice.draw(SMALL, 4)),
        format!("\"nextPageToken\": \"{}\"", dice.draw(ALNUM, 20)),
        format!("https://cdn.test/{}/{}.js", dice.draw(ALNUM, 40), dice.draw(HEX, 20)),
    ]
}
