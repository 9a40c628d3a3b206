-- Made last: that is faster than keeping them up row by row.

CREATE INDEX calls_by_session ON calls (session_id, seq);
CREATE INDEX calls_by_time ON calls (at_ms);
CREATE INDEX calls_by_tool ON calls (tool, outcome);
CREATE INDEX calls_by_outcome ON calls (outcome, at_ms);
CREATE INDEX calls_by_id ON calls (tool_use_id);
CREATE INDEX events_by_session ON events (session_id, seq);
CREATE INDEX events_by_name ON events (event, at_ms);
CREATE INDEX rules_by_call ON rules (call_id);
CREATE INDEX rules_by_rule ON rules (rule);
CREATE INDEX paths_by_path ON paths (path);
CREATE INDEX paths_by_call ON paths (call_id);
