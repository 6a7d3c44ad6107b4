-- Databases of the first Fornax as sources: other names of conversations, and the findings that it
-- had made, which are history and never a verdict of this program's.

CREATE TABLE alias (
  name         TEXT NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  PRIMARY KEY (name, conversation, source, generation)
) WITHOUT ROWID;
CREATE INDEX alias_source ON alias (source, generation);

CREATE TABLE historical_finding (
  id            INTEGER PRIMARY KEY,
  uid           BLOB NOT NULL,
  claim_uid     BLOB NOT NULL,
  conversation  INTEGER NOT NULL REFERENCES conversation (id),
  source        INTEGER NOT NULL REFERENCES source (id),
  generation    INTEGER NOT NULL,
  offset        INTEGER NOT NULL,
  length        INTEGER NOT NULL,
  line_hash     BLOB NOT NULL,
  path          TEXT NOT NULL,
  idx           INTEGER NOT NULL,
  verdict       TEXT NOT NULL,
  evidence_uids TEXT NOT NULL,
  verifier_name TEXT NOT NULL,
  rationale     TEXT NOT NULL,
  computed_at   TEXT NOT NULL,
  order_us      INTEGER NOT NULL
);
CREATE UNIQUE INDEX historical_finding_uid ON historical_finding (source, generation, uid);
CREATE INDEX historical_finding_conversation ON historical_finding (conversation, order_us);

-- hearsay: told by others only, a third party or an import; it never comes before what was seen.
DROP VIEW visible_fact;
CREATE VIEW visible_fact AS
  SELECT f.*, s.kind IN ('messages', 'import') AS hearsay
  FROM fact f JOIN source s ON s.id = f.source AND s.generation = f.generation;
DROP VIEW visible_lineage;
CREATE VIEW visible_lineage AS
  SELECT l.*, s.kind IN ('messages', 'import') AS hearsay
  FROM lineage l JOIN source s ON s.id = l.source AND s.generation = l.generation;
DROP VIEW visible_capability;
CREATE VIEW visible_capability AS
  SELECT k.*, s.kind IN ('messages', 'import') AS hearsay
  FROM capability k JOIN source s ON s.id = k.source AND s.generation = k.generation;

-- What only a second telling tells (rank 0: a stream, an import) of a conversation whose own record
-- (rank 3) another source holds. A record begins with its header, or with what a person typed.
DROP VIEW streamed;
CREATE VIEW streamed AS
  SELECT e.id, e.uid, e.conversation, e.kind, e.outcome
  FROM (SELECT DISTINCT event FROM sighting WHERE rank = 0) r CROSS JOIN event e ON e.id = r.event
  WHERE NOT EXISTS (SELECT 1 FROM sighting s WHERE s.event = e.id AND s.rank > 0)
    AND (EXISTS (SELECT 1 FROM event o JOIN sighting s ON s.event = o.id
                 WHERE o.conversation = e.conversation AND o.kind = 'session_start' AND s.rank = 3)
      OR EXISTS (SELECT 1 FROM event o JOIN sighting s ON s.event = o.id
                 WHERE o.conversation = e.conversation AND o.kind = 'user_prompt_submit'
                   AND s.rank = 3));
