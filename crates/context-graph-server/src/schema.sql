-- The team's database. The tables of records are those of the local store (docs/store.md) with tenant, member and
-- machine in front, and `born`: the time when the session began. Tables are partitioned by it, so a session is in one
-- partition, and retention drops whole partitions. SQLite and PostgreSQL both read this file; nothing needs an extension.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE tenants (
    tenant     BIGINT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    created_ms BIGINT NOT NULL,
    -- The public half of the key that signs the team's policies.
    policy_key BYTEA
);

-- Published policies. The newest one counts.
CREATE TABLE policies (
    tenant       BIGINT NOT NULL,
    number       BIGINT NOT NULL,
    etag         TEXT NOT NULL,
    -- Signature and bundle.
    content      BYTEA NOT NULL,
    published_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, number)
);

CREATE TABLE members (
    tenant     BIGINT NOT NULL,
    member     BIGINT NOT NULL,
    name       TEXT NOT NULL,
    -- member, lead or admin.
    role       TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    PRIMARY KEY (tenant, member),
    UNIQUE (tenant, name)
);

CREATE TABLE invitations (
    hash       BYTEA NOT NULL PRIMARY KEY,
    tenant     BIGINT NOT NULL,
    member     BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    used_ms    BIGINT
);

CREATE TABLE machines (
    machine    BIGINT NOT NULL PRIMARY KEY,
    tenant     BIGINT NOT NULL,
    member     BIGINT NOT NULL,
    name       TEXT NOT NULL,
    public_key BYTEA NOT NULL,
    created_ms BIGINT NOT NULL,
    pushed_ms  BIGINT
);

CREATE TABLE tokens (
    hash       BYTEA NOT NULL PRIMARY KEY,
    number     BIGINT NOT NULL UNIQUE,
    tenant     BIGINT NOT NULL,
    member     BIGINT NOT NULL,
    -- The machine that has the token; NULL for a browser's token.
    machine    BIGINT,
    created_ms BIGINT NOT NULL,
    used_ms    BIGINT,
    expires_ms BIGINT,
    revoked_ms BIGINT
);
CREATE INDEX tokens_of_member ON tokens (tenant, member);

CREATE TABLE sessions (
    number      BIGINT NOT NULL PRIMARY KEY,
    tenant      BIGINT NOT NULL,
    member      BIGINT NOT NULL,
    machine     BIGINT NOT NULL,
    session_id  TEXT NOT NULL,
    ordinal     BIGINT NOT NULL,
    born        BIGINT NOT NULL,
    share       TEXT NOT NULL,
    title       TEXT NOT NULL,
    project     TEXT NOT NULL,
    model       TEXT NOT NULL,
    lifecycle   TEXT NOT NULL,
    ended       TEXT,
    previous_id TEXT,
    started_ms  BIGINT NOT NULL,
    updated_ms  BIGINT NOT NULL,
    ended_ms    BIGINT,
    continuity  DOUBLE PRECISION NOT NULL,
    prompts     BIGINT NOT NULL,
    calls       BIGINT NOT NULL,
    failures    BIGINT NOT NULL,
    stops       BIGINT NOT NULL,
    files       BIGINT NOT NULL,
    -- How many records there are, the link of the team's chain after the last, the link of the machine's own chain there, and
    -- the machine's signature.
    records     BIGINT NOT NULL,
    link        BYTEA,
    local_link  BYTEA,
    signature   BYTEA,
    settled     BIGINT NOT NULL,
    stored_ms   BIGINT NOT NULL
);
CREATE UNIQUE INDEX sessions_by_id ON sessions (machine, session_id);
CREATE INDEX sessions_by_name ON sessions (tenant, session_id);
CREATE INDEX sessions_by_time ON sessions (tenant, updated_ms, number);
CREATE INDEX sessions_of_member ON sessions (tenant, member, updated_ms, number);
CREATE INDEX sessions_by_stored ON sessions (tenant, stored_ms);

CREATE TABLE blocks (
    tenant    BIGINT NOT NULL,
    session   BIGINT NOT NULL,
    born      BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    records   BIGINT NOT NULL,
    content   BYTEA NOT NULL,
    PRIMARY KEY (tenant, session, first_seq, born)
) /* by time */;

CREATE TABLE events (
    tenant      BIGINT NOT NULL,
    member      BIGINT NOT NULL,
    machine     BIGINT NOT NULL,
    born        BIGINT NOT NULL,
    session     BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    at_ms       BIGINT NOT NULL,
    event       TEXT NOT NULL,
    hook_us     BIGINT NOT NULL,
    call        BIGINT,
    tool_use_id TEXT,
    agent_id    TEXT,
    agent_type  TEXT,
    prompt_id   TEXT,
    verdict     TEXT,
    subject     TEXT,
    PRIMARY KEY (tenant, session, seq, born)
) /* by time */;
CREATE INDEX events_by_time ON events (tenant, at_ms) WHERE call IS NULL;

CREATE TABLE calls (
    tenant           BIGINT NOT NULL,
    member           BIGINT NOT NULL,
    machine          BIGINT NOT NULL,
    born             BIGINT NOT NULL,
    session          BIGINT NOT NULL,
    seq              BIGINT NOT NULL,
    place            BIGINT NOT NULL,
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
    error            TEXT,
    PRIMARY KEY (tenant, session, seq, place, born)
) /* by time */;
CREATE INDEX calls_by_time ON calls (tenant, at_ms);
CREATE INDEX calls_of_member ON calls (tenant, member, at_ms);
CREATE INDEX calls_by_verdict ON calls (tenant, verdict, at_ms) WHERE verdict IS NOT NULL;
CREATE INDEX calls_by_tool ON calls (tenant, tool, at_ms);
CREATE INDEX calls_by_outcome ON calls (tenant, outcome, at_ms) WHERE outcome <> 'success';

-- All tools that were ever called. A search by a name or its beginning finds here the exact names that calls have.
CREATE TABLE tools (
    tenant BIGINT NOT NULL,
    tool   TEXT NOT NULL,
    PRIMARY KEY (tenant, tool)
);

CREATE TABLE decisions (
    tenant   BIGINT NOT NULL,
    member   BIGINT NOT NULL,
    machine  BIGINT NOT NULL,
    born     BIGINT NOT NULL,
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    position BIGINT NOT NULL,
    event    TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    rule     TEXT,
    reason   TEXT NOT NULL,
    counted  BIGINT NOT NULL,
    PRIMARY KEY (tenant, session, seq, place, position, born)
) /* by time */;

CREATE TABLE files (
    tenant   BIGINT NOT NULL,
    member   BIGINT NOT NULL,
    machine  BIGINT NOT NULL,
    born     BIGINT NOT NULL,
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    position BIGINT NOT NULL,
    path     TEXT NOT NULL,
    PRIMARY KEY (tenant, session, seq, place, position, born)
) /* by time */;

CREATE TABLE turns (
    tenant   BIGINT NOT NULL,
    member   BIGINT NOT NULL,
    machine  BIGINT NOT NULL,
    born     BIGINT NOT NULL,
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    at_ms    BIGINT NOT NULL,
    ended_ms BIGINT,
    ended_by TEXT,
    prompt   TEXT NOT NULL,
    PRIMARY KEY (tenant, session, seq, born)
) /* by time */;

CREATE TABLE injections (
    tenant   BIGINT NOT NULL,
    member   BIGINT NOT NULL,
    machine  BIGINT NOT NULL,
    born     BIGINT NOT NULL,
    session  BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    position BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    content  TEXT NOT NULL,
    PRIMARY KEY (tenant, session, seq, position, born)
) /* by time */;

-- For each range of consecutive records, the parts of the words in their texts (word_index.rs). A search reads only ranges
-- that have all parts of the searched text.
CREATE TABLE words (
    tenant    BIGINT NOT NULL,
    member    BIGINT NOT NULL,
    machine   BIGINT NOT NULL,
    born      BIGINT NOT NULL,
    session   BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq  BIGINT NOT NULL,
    first_ms  BIGINT NOT NULL,
    last_ms   BIGINT NOT NULL,
    parts     INTEGER[],
    PRIMARY KEY (tenant, session, first_seq, born)
) /* by time */;
CREATE INDEX words_by_time ON words (tenant, last_ms);
CREATE INDEX words_by_parts ON words USING gin (parts);

-- What remains of a forgotten session. A push of this session with this ordinal or a smaller one is refused.
CREATE TABLE tombstones (
    machine     BIGINT NOT NULL,
    fingerprint BYTEA NOT NULL,
    tenant      BIGINT NOT NULL,
    ordinal     BIGINT NOT NULL,
    records     BIGINT NOT NULL,
    link        BYTEA,
    at_ms       BIGINT NOT NULL,
    PRIMARY KEY (machine, fingerprint)
);

-- Requests that were refused: pushes with their content, others without.
CREATE TABLE refused (
    number     BIGINT NOT NULL PRIMARY KEY,
    tenant     BIGINT NOT NULL,
    member     BIGINT NOT NULL,
    machine    BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    at_ms      BIGINT NOT NULL,
    why        TEXT NOT NULL,
    -- The head that the push claims (`records`, `link`), and how many records the server had.
    records    BIGINT NOT NULL,
    link       BYTEA NOT NULL,
    has        BIGINT NOT NULL,
    content    BYTEA
);
CREATE INDEX refused_by_time ON refused (tenant, at_ms);
CREATE INDEX refused_of_machine ON refused (machine, session_id, why);

-- Who looked at whose session.
CREATE TABLE looks (
    number  BIGINT NOT NULL PRIMARY KEY,
    tenant  BIGINT NOT NULL,
    member  BIGINT NOT NULL,
    at_ms   BIGINT NOT NULL,
    session BIGINT NOT NULL,
    owner   BIGINT NOT NULL
);
CREATE INDEX looks_by_time ON looks (tenant, at_ms);

-- Changes that admins made to members on the pages, and attempts by others.
CREATE TABLE changes (
    number BIGINT NOT NULL PRIMARY KEY,
    tenant BIGINT NOT NULL,
    -- Who made the change, and to whom.
    member BIGINT NOT NULL,
    whom   TEXT NOT NULL,
    at_ms  BIGINT NOT NULL,
    what   TEXT NOT NULL,
    is_done BIGINT NOT NULL
);
CREATE INDEX changes_by_time ON changes (tenant, at_ms);

-- Requests that were too large, too slow or too frequent: how many of each kind in a minute, from which address.
CREATE TABLE turned_away (
    at_ms  BIGINT NOT NULL,
    source TEXT NOT NULL,
    kind   TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (at_ms, source, kind)
);
