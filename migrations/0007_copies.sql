-- A conversation that begins as a copy of another one under a new id: which events are copied.

-- What a person typed first, by the native id of it: conversations that share it are forks.
CREATE TABLE head (
  conversation INTEGER PRIMARY KEY REFERENCES conversation (id) ON DELETE CASCADE,
  native_space TEXT NOT NULL,
  native_id    TEXT NOT NULL
);
CREATE INDEX head_native ON head (native_id, native_space);

CREATE TABLE copy (
  event        INTEGER PRIMARY KEY REFERENCES event (id) ON DELETE CASCADE,
  conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  origin       INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE
);
CREATE INDEX copy_conversation ON copy (conversation);
CREATE INDEX copy_origin ON copy (origin);

-- Copied events are left out like what a second telling repeats.
DROP VIEW streamed;
CREATE VIEW streamed AS
  SELECT e.id, e.uid, e.conversation, e.kind, e.outcome
  FROM (SELECT DISTINCT event FROM sighting WHERE rank = 0) r CROSS JOIN event e ON e.id = r.event
  WHERE NOT EXISTS (SELECT 1 FROM sighting s WHERE s.event = e.id AND s.rank > 0)
    AND (EXISTS (SELECT 1 FROM event o JOIN sighting s ON s.event = o.id
                 WHERE o.conversation = e.conversation AND o.kind = 'session_start' AND s.rank = 3)
      OR EXISTS (SELECT 1 FROM event o JOIN sighting s ON s.event = o.id
                 WHERE o.conversation = e.conversation AND o.kind = 'user_prompt_submit'
                   AND s.rank = 3))
  UNION
  SELECT e.id, e.uid, e.conversation, e.kind, e.outcome
  FROM copy k JOIN event e ON e.id = k.event;
