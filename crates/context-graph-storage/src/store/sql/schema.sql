-- The store, format 1. docs/store.md explains it; the views in views.sql are what others may rely on.
--
-- The tables and indexes here are SQL that SQLite and PostgreSQL both read. What only SQLite has is in sqlite.sql and in
-- the mark below: a table that is `clustered` is kept in the order of its primary key. Queries may use SQLite's own SQL.

-- About the store itself: the version that made it, the last numbers given, and journals of forgotten sessions.
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) /* clustered */;

-- One row per session.
CREATE TABLE sessions (
    -- Counted up and never used twice: a removed session leaves a tombstone with its number.
    number          BIGINT NOT NULL PRIMARY KEY,
    session_id      TEXT NOT NULL,
    project         TEXT,
    previous_id     TEXT,
    -- The newest event, and the first time that the session was stored.
    updated_ms      BIGINT NOT NULL,
    first_stored_ms BIGINT NOT NULL,
    duration_ms     BIGINT,
    started_ms      BIGINT,
    ended_ms        BIGINT,
    end_reason      TEXT,
    end_status      TEXT,
    lifecycle       TEXT,
    model           TEXT,
    cwd             TEXT,
    transcript_path TEXT,
    prompts         BIGINT,
    calls           BIGINT,
    failures        BIGINT,
    continuity      DOUBLE PRECISION,
    -- How many records there are, and the link of the hash chain behind the last.
    records         BIGINT NOT NULL,
    chain           BYTEA,
    -- Up to this record, calls and turns can no longer change.
    settled         BIGINT NOT NULL,
    -- How far the session's journal is folded.
    generation      BIGINT,
    folded          BIGINT,
    folded_check    BIGINT,
    -- A tag over the whole row, made with the user's secret: proves that we wrote it.
    tag             BYTEA
) /* clustered */;
CREATE UNIQUE INDEX sessions_by_id ON sessions (session_id);
CREATE INDEX sessions_by_time ON sessions (updated_ms, session_id);
CREATE INDEX sessions_by_project ON sessions (project, updated_ms, session_id);
CREATE INDEX sessions_by_previous ON sessions (previous_id) WHERE previous_id IS NOT NULL;

-- The state from which a session continues, one row per session.
CREATE TABLE states (
    session  BIGINT NOT NULL PRIMARY KEY,
    snapshot BYTEA,
    state    BYTEA
);

-- The records themselves: each block has several, compressed, and is a part of the session's hash chain.
CREATE TABLE blocks (
    session    BIGINT NOT NULL,
    first_seq  BIGINT NOT NULL,
    records    BIGINT NOT NULL,
    -- Whether the search index is up to date for this block.
    searchable BIGINT NOT NULL,
    content    BYTEA NOT NULL,
    PRIMARY KEY (session, first_seq)
);
CREATE INDEX blocks_unsearchable ON blocks (session, first_seq) WHERE searchable = 0;

-- One row per record: what the client sent, or what we noted ourselves.
CREATE TABLE events (
    session     BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    at_ms       BIGINT NOT NULL,
    event       TEXT NOT NULL,
    hook_us     BIGINT NOT NULL,
    -- The call that it belongs to: the number of that call's first record.
    call        BIGINT,
    -- Only for an event that is not part of a call.
    tool_use_id TEXT,
    agent_id    TEXT,
    agent_type  TEXT,
    prompt_id   TEXT,
    verdict     TEXT,
    subject     TEXT,
    PRIMARY KEY (session, seq)
) /* clustered */;
CREATE INDEX events_by_time ON events (at_ms) WHERE call IS NULL;
CREATE INDEX events_by_call_id ON events (tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX events_by_verdict ON events (verdict, at_ms) WHERE verdict IS NOT NULL;

-- One row per tool call, from the request to the result.
CREATE TABLE calls (
    session          BIGINT NOT NULL,
    -- The number of its first record; for a call that only a batch mentions, the number of the batch.
    seq              BIGINT NOT NULL,
    -- Distinguishes the calls of one batch; 0 for all others.
    place            BIGINT NOT NULL,
    -- The number of its last record; records in between may belong to other calls.
    last_seq         BIGINT NOT NULL,
    at_ms            BIGINT NOT NULL,
    ended_ms         BIGINT,
    tool_use_id      TEXT,
    tool             TEXT NOT NULL,
    mcp_server       TEXT,
    agent_id         TEXT,
    agent_type       TEXT,
    prompt_id        TEXT,
    permission_mode  TEXT,
    subject          TEXT NOT NULL,
    verdict          TEXT,
    outcome          TEXT NOT NULL,
    evidence         TEXT NOT NULL,
    duration_ms      BIGINT,
    between_ms       BIGINT,
    permission_asked BIGINT NOT NULL,
    deferrals        BIGINT NOT NULL,
    batch_seq        BIGINT,
    -- The beginning of the error, if the call failed or the client refused it.
    error            TEXT,
    PRIMARY KEY (session, seq, place)
) /* clustered */;
CREATE INDEX calls_by_time ON calls (at_ms);
CREATE INDEX calls_by_id ON calls (tool_use_id);
CREATE INDEX calls_by_verdict ON calls (verdict, at_ms) WHERE verdict IS NOT NULL;

-- One row for each rule behind each decision about a call or an event; one row without a rule if no rule decided.
CREATE TABLE decisions (
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    position BIGINT NOT NULL,
    event    TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    rule     TEXT,
    reason   TEXT NOT NULL,
    -- Whether it is the one that counted: the strictest before the call could run.
    counted  BIGINT NOT NULL,
    PRIMARY KEY (session, seq, place, position)
) /* clustered */;

-- One row for each file or folder that a call or an event named.
CREATE TABLE files (
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    position BIGINT NOT NULL,
    path     TEXT NOT NULL,
    PRIMARY KEY (session, seq, place, position)
) /* clustered */;

-- One row for each prompt, until the agent stopped.
CREATE TABLE turns (
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    at_ms    BIGINT NOT NULL,
    ended_ms BIGINT,
    -- 'stopped' or 'broken_off'; none while it is running.
    ended_by TEXT,
    prompt   TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) /* clustered */;

-- What rules or the start of a session gave to the model or to a tool.
CREATE TABLE injections (
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    position BIGINT NOT NULL,
    -- 'previous_session' (its id), 'context' (a rule's words) or 'input' (what a call was given instead).
    kind     TEXT NOT NULL,
    content  TEXT NOT NULL,
    PRIMARY KEY (session, seq, position)
) /* clustered */;

-- What remains of removed sessions. The rows form a hash chain of their own.
CREATE TABLE tombstones (
    seq     BIGINT NOT NULL PRIMARY KEY,
    session BIGINT NOT NULL,
    content BYTEA NOT NULL,
    link    BYTEA NOT NULL
) /* clustered */;
