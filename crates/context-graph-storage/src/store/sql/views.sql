-- What others may rely on: columns are only ever added. Times are milliseconds since 1970 in UTC.

CREATE VIEW v_sessions AS
    SELECT session_id, project, cwd, model, lifecycle, started_ms, updated_ms, ended_ms, end_reason, duration_ms,
        end_status, previous_id, transcript_path, prompts, calls, failures, continuity, records
    FROM sessions;

CREATE VIEW v_calls AS
    SELECT s.session_id, s.project, c.seq, c.at_ms, c.ended_ms, c.tool_use_id, c.tool, c.mcp_server, c.agent_id,
        c.agent_type, c.prompt_id, c.permission_mode, c.subject, c.verdict, c.outcome, c.evidence, c.duration_ms,
        c.between_ms, coalesce(c.duration_ms, c.between_ms) AS took_ms, c.permission_asked, c.deferrals, c.error,
        (SELECT f.path FROM files f
            WHERE f.session = c.session AND f.seq = c.seq AND f.place = c.place AND f.position = 0) AS path
    FROM calls c JOIN sessions s ON s.number = c.session;

CREATE VIEW v_decisions AS
    SELECT s.session_id, s.project, d.seq, coalesce(c.at_ms, e.at_ms) AS at_ms, d.event, d.verdict, d.rule, d.reason,
        d.counted, c.tool, c.tool_use_id, coalesce(c.subject, e.subject) AS subject, c.outcome
    FROM decisions d
    JOIN sessions s ON s.number = d.session
    LEFT JOIN calls c ON c.session = d.session AND c.seq = d.seq AND c.place = d.place
    LEFT JOIN events e ON e.session = d.session AND e.seq = d.seq;
