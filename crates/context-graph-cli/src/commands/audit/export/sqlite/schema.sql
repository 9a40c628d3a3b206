-- What happened, call by call. docs/audit-export.md explains it.

CREATE TABLE sessions (
    session_id          TEXT PRIMARY KEY,
    project             TEXT NOT NULL,
    cwd                 TEXT NOT NULL,
    model               TEXT,
    state               TEXT NOT NULL,
    started             TEXT NOT NULL,
    started_ms          INTEGER NOT NULL,
    updated_ms          INTEGER NOT NULL,
    ended_ms            INTEGER,
    end_reason          TEXT,
    end_status          TEXT,
    duration_ms         INTEGER,
    previous_session_id TEXT
) WITHOUT ROWID;

CREATE TABLE calls (
    id               INTEGER PRIMARY KEY,
    session_id       TEXT NOT NULL REFERENCES sessions,
    seq              INTEGER NOT NULL,
    at               TEXT NOT NULL,
    at_ms            INTEGER NOT NULL,
    ended_ms         INTEGER,
    tool_use_id      TEXT,
    tool             TEXT NOT NULL,
    mcp_server       TEXT,
    agent_id         TEXT,
    agent_type       TEXT,
    prompt_id        TEXT,
    permission_mode  TEXT,
    cwd              TEXT NOT NULL,
    subject          TEXT NOT NULL,
    verdict          TEXT,
    reason           TEXT,
    permission_asked INTEGER NOT NULL,
    outcome          TEXT NOT NULL,
    evidence         TEXT NOT NULL,
    duration_ms      INTEGER,
    between_ms       INTEGER,
    deferrals        INTEGER NOT NULL,
    hook_us          INTEGER NOT NULL,
    asked            TEXT,
    executed         TEXT,
    response         TEXT,
    error            TEXT
);

CREATE TABLE events (
    id              INTEGER PRIMARY KEY,
    session_id      TEXT NOT NULL REFERENCES sessions,
    seq             INTEGER NOT NULL,
    at              TEXT NOT NULL,
    at_ms           INTEGER NOT NULL,
    event           TEXT NOT NULL,
    agent_id        TEXT,
    agent_type      TEXT,
    prompt_id       TEXT,
    permission_mode TEXT,
    cwd             TEXT NOT NULL,
    subject         TEXT NOT NULL,
    verdict         TEXT,
    reason          TEXT,
    hook_us         INTEGER NOT NULL,
    payload         TEXT NOT NULL
);

-- One row for each rule behind each decision, about a call or about another event.
CREATE TABLE rules (
    call_id  INTEGER REFERENCES calls,
    event_id INTEGER REFERENCES events,
    event    TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    rule     TEXT NOT NULL,
    reason   TEXT NOT NULL
);

-- One row for each file or folder that a call or another event named.
CREATE TABLE paths (
    call_id  INTEGER REFERENCES calls,
    event_id INTEGER REFERENCES events,
    path     TEXT NOT NULL
);

CREATE VIEW failures AS
    SELECT id, session_id, at, tool, subject, error, coalesce(duration_ms, between_ms) AS took_ms
    FROM calls WHERE outcome = 'failure';

CREATE VIEW denials AS
    SELECT id, session_id, at, tool, subject, verdict, evidence, coalesce(reason, error) AS reason,
        (SELECT group_concat(rule, ', ') FROM rules WHERE rules.call_id = calls.id) AS rules
    FROM calls WHERE outcome = 'denied';

CREATE VIEW slow_calls AS
    SELECT id, session_id, at, tool, subject, outcome, coalesce(duration_ms, between_ms) AS took_ms
    FROM calls WHERE took_ms IS NOT NULL ORDER BY took_ms DESC;

CREATE VIEW per_day AS
    SELECT substr(at, 1, 10) AS day, count(*) AS calls, count(DISTINCT session_id) AS sessions,
        sum(outcome = 'failure') AS failures, sum(outcome = 'denied') AS denials,
        sum(outcome = 'interrupted') AS interrupted, total(coalesce(duration_ms, between_ms)) / 1000 AS tool_seconds
    FROM calls GROUP BY day ORDER BY day;

CREATE VIEW per_tool AS
    SELECT tool, count(*) AS calls, sum(outcome = 'failure') AS failures, sum(outcome = 'denied') AS denials,
        round(avg(coalesce(duration_ms, between_ms))) AS mean_ms, max(coalesce(duration_ms, between_ms)) AS max_ms
    FROM calls GROUP BY tool ORDER BY calls DESC, tool;
