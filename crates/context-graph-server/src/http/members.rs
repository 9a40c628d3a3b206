//! The page on which admins manage members. Everything else on the pages only reads.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::pages::plain_page;
use super::{App, HttpRefusal};
use crate::db::{DbError, Pool, Row};
use crate::manage::{self, Change, ManageError};
use crate::members::{self, Listed, Principal, Role};

pub(super) const PATH: &str = "/members";

/// What a form says.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Form {
    change: String,
    name: String,
    role: String,
    token: String,
}

impl Form {
    fn read(&self) -> Result<Change, &'static str> {
        let name = self.name.trim().to_owned();
        let role = Role::parse(&self.role);
        match self.change.as_str() {
            "invite" if self.role.is_empty() => Ok(Change::Invite { name, role: None }),
            "invite" if role.is_some() => Ok(Change::Invite { name, role }),
            "role" => Ok(Change::Role { name, role: role.ok_or("the role is member, lead or admin")? }),
            "remove" => Ok(Change::Remove { name }),
            "revoke" => {
                let token = self.token.parse().map_err(|_| "a token is named by its number")?;
                Ok(Change::Revoke { token })
            }
            "invite" => Err("the role is member, lead or admin"),
            _ => Err("a change is invite, role, remove or revoke"),
        }
    }
}

/// The page, or a change.
pub(super) async fn answer(app: &App, principal: Principal, request: Request) -> Response {
    if principal.role != Role::Admin {
        let what =
            if request.method() == Method::POST { "tried to change members" } else { "asked for members" };
        let noted = app.ask(move |pool, now_ms| manage::note_try(pool, &principal, what, now_ms)).await;
        if let Err(refused) = noted {
            return refused.into_response();
        }
        return whole_page(
            StatusCode::FORBIDDEN,
            html! { p role="alert" { "Only admins manage members. This was noted." } },
        );
    }
    if request.method() != Method::POST {
        return shown(app, principal, StatusCode::OK, None).await;
    }
    if !is_own(request.headers()) {
        return whole_page(
            StatusCode::FORBIDDEN,
            html! { p role="alert" { "Forms from other sites are rejected." } },
        );
    }
    let (parts, body): (_, Body) = request.into_parts();
    let bytes = match app.read(&parts.headers, body, super::MAX_SMALL).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused.into_response(),
    };
    let form: Form = serde_urlencoded::from_bytes(&bytes).unwrap_or_default();
    let change = match form.read() {
        Ok(change) => change,
        Err(why) => return shown(app, principal, StatusCode::BAD_REQUEST, Some(why.to_owned())).await,
    };
    let by = principal.clone();
    let changed =
        app.ask(move |pool, now_ms| Ok::<_, DbError>(manage::change(pool, &by, &change, now_ms))).await;
    match changed {
        Ok(Ok(Some(invitation))) => {
            let text = format!(
                "On that machine, within seven days: context-graph team join URL --invitation {invitation}"
            );
            shown(app, principal, StatusCode::OK, Some(text)).await
        }
        Ok(Ok(None)) => shown(app, principal, StatusCode::OK, Some("Changed.".to_owned())).await,
        Ok(Err(ManageError::Db(error))) => HttpRefusal::from(error).into_response(),
        Ok(Err(error)) => shown(app, principal, StatusCode::BAD_REQUEST, Some(error.to_string())).await,
        Err(refused) => refused.into_response(),
    }
}

/// Whether our own page sent a form. Every browser sends `Origin` with a form, and our cookie only with forms of our
/// own pages.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let origin = text(header::ORIGIN).and_then(|origin| origin.split_once("://"));
    origin.is_some_and(|(_, name)| Some(name) == text(header::HOST))
}

fn listed(pool: &Pool, tenant: i64) -> crate::db::Result<(Vec<Listed>, Vec<Row>)> {
    let members = members::list_of(pool, Some(tenant))?;
    let changes = pool.with(|connection| manage::newest(connection, tenant, 50))?;
    Ok((members, changes))
}

async fn shown(app: &App, principal: Principal, status: StatusCode, said: Option<String>) -> Response {
    let (tenant, own) = (principal.tenant, principal.name);
    match app.ask(move |pool, _| listed(pool, tenant)).await {
        Ok((members, changes)) => whole_page(status, page(&members, &changes, &own, said.as_deref())),
        Err(refused) => refused.into_response(),
    }
}

fn moment(at_ms: i64) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at_ms).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

fn whole_page(status: StatusCode, body: Markup) -> Response {
    let main = html! {
        p { a href="/" { "Now" } " · " a href="/sessions" { "Sessions" } " · " a href="/health" { "Health" } }
        h1 { "Members" }
        (body)
    };
    plain_page(status, "Members", &main)
}

fn page(members: &[Listed], changes: &[Row], own: &str, said: Option<&str>) -> Markup {
    html! {
        @if let Some(said) = said { p role="status" { (said) } }
        table {
            thead { tr { th { "Member" } th { "Role" } th { "Tokens" } th { "Remove" } } }
            tbody { @for member in members { (line(member, own)) } }
        }
        h2 { "Invite" }
        form method="post" action=(PATH) {
            input type="hidden" name="change" value="invite";
            label for="name" { "Name" } " "
            input id="name" name="name" maxlength="100" autocomplete="off" required;
            " " label for="role" { "Role" } " "
            select id="role" name="role" { option value="" { "unchanged (new: member)" } (roles("")) }
            " " button type="submit" { "Invite" }
        }
        h2 { "Changes" }
        @if changes.is_empty() { p { "None yet." } }
        ul { @for row in changes {
            li {
                (moment(row.int(0))) ": " (row.text(1)) " "
                @if row.int(4) == 1 { (row.text(3)) ": " (row.text(2)) } @else { (row.text(2)) ", and was refused" }
            }
        } }
    }
}

fn roles(chosen: &str) -> Markup {
    html! { @for role in [Role::Member, Role::Lead, Role::Admin] {
        option value=(role.as_str()) selected[role.as_str() == chosen] { (role.as_str()) }
    } }
}

fn line(member: &Listed, own: &str) -> Markup {
    let is_changeable = !member.is_revoked && member.name != own;
    html! { tr {
        td { (member.name) @if member.is_revoked { " (removed)" } }
        td { @if is_changeable {
            form method="post" action=(PATH) {
                input type="hidden" name="change" value="role";
                input type="hidden" name="name" value=(member.name);
                select name="role" aria-label={ "Role of " (member.name) } { (roles(&member.role)) }
                " " button type="submit" { "Change" }
            }
        } @else { (member.role) } }
        td { ul { @for (number, machine, used, is_revoked) in &member.tokens {
            li {
                (machine.as_deref().unwrap_or("browser")) ", "
                (used.map_or_else(|| "never used".to_owned(), |at| format!("used {}", moment(at))))
                @if *is_revoked { ", revoked" } @else {
                    form method="post" action=(PATH) {
                        input type="hidden" name="change" value="revoke";
                        input type="hidden" name="token" value=(number);
                        button type="submit" { "Revoke token " (number) }
                    }
                }
            }
        } } }
        td { @if is_changeable {
            form method="post" action=(PATH) {
                input type="hidden" name="change" value="remove";
                input type="hidden" name="name" value=(member.name);
                button type="submit" { "Remove " (member.name) }
            }
        } }
    } }
}
