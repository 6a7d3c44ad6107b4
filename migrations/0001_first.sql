-- The first schema. Every row of what was seen names the source, the generation of that source and
-- the bytes; a row is visible when its generation is the source's current one.
-- Ids seen outside are derived UUIDs (uid); the integer keys never leave the store.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversation (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE,
  provider     TEXT NOT NULL,
  native_id    TEXT NOT NULL,
  first_us     INTEGER,
  last_us      INTEGER,
  events       INTEGER NOT NULL DEFAULT 0,
  failed_calls INTEGER NOT NULL DEFAULT 0,
  losses       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX conversation_native ON conversation (native_id);
CREATE INDEX conversation_last ON conversation (last_us);

CREATE TABLE source (
  id            INTEGER PRIMARY KEY,
  kind          TEXT NOT NULL,
  format        TEXT NOT NULL,
  provider      TEXT NOT NULL,
  path          TEXT NOT NULL,
  state         TEXT NOT NULL DEFAULT 'active',
  generation    INTEGER NOT NULL DEFAULT 1,
  begun         INTEGER NOT NULL DEFAULT 1,
  device        INTEGER,
  inode         INTEGER,
  size          INTEGER,
  modified_ns   INTEGER,
  changed_ns    INTEGER,
  offset        INTEGER NOT NULL DEFAULT 0,
  lines         INTEGER NOT NULL DEFAULT 0,
  chain         BLOB,
  head_hash     BLOB,
  tail_hash     BLOB,
  decoder       TEXT,
  decoder_state TEXT,
  complete      INTEGER NOT NULL DEFAULT 0,
  settled       INTEGER NOT NULL DEFAULT 0,
  ignored       TEXT NOT NULL DEFAULT '{}',
  UNIQUE (kind, path)
);

-- cwd, model, agent_version, git_branch, title: each value with the first and last time it held.
CREATE TABLE fact (
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  name         TEXT NOT NULL,
  value        TEXT NOT NULL,
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  first_us     INTEGER NOT NULL,
  last_us      INTEGER NOT NULL,
  PRIMARY KEY (conversation, name, value, source, generation)
) WITHOUT ROWID;
CREATE INDEX fact_source ON fact (source, generation);
-- hearsay: told by a third party only; it never comes before what was seen.
CREATE VIEW visible_fact AS
  SELECT f.*, s.kind = 'messages' AS hearsay FROM fact f JOIN source s ON s.id = f.source AND s.generation = f.generation;

-- One row an event; what it says is folded from its sightings.
CREATE TABLE event (
  id           INTEGER PRIMARY KEY,
  uid          BLOB NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  kind         TEXT NOT NULL,
  outcome      TEXT,
  order_us     INTEGER NOT NULL,
  heuristic    INTEGER NOT NULL DEFAULT 0,
  disagrees    INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX event_uid ON event (uid);
CREATE INDEX event_order ON event (conversation, order_us);
-- What a person typed, for lists.
CREATE INDEX event_prompt ON event (conversation, order_us) WHERE kind = 'user_prompt_submit';

CREATE TABLE sighting (
  id            INTEGER PRIMARY KEY,
  event         INTEGER NOT NULL REFERENCES event (id),
  source        INTEGER NOT NULL REFERENCES source (id),
  generation    INTEGER NOT NULL,
  offset        INTEGER NOT NULL,
  length        INTEGER NOT NULL,
  line_hash     BLOB NOT NULL,
  path          TEXT NOT NULL,
  idx           INTEGER NOT NULL,
  rank          INTEGER NOT NULL,
  content_hash  BLOB NOT NULL,
  ingress       TEXT NOT NULL,
  native_space  TEXT NOT NULL,
  native_id     TEXT NOT NULL,
  turn_id       TEXT,
  call_id       TEXT,
  agent_id      TEXT,
  outcome       TEXT,
  tool_name     TEXT,
  tool_input    TEXT,
  tool_response TEXT,
  text          TEXT,
  raw           TEXT,
  observed_at   TEXT NOT NULL,
  clock_source  TEXT NOT NULL,
  order_us      INTEGER NOT NULL
);
CREATE UNIQUE INDEX sighting_place ON sighting (event, source, generation, offset, idx);
CREATE INDEX sighting_source ON sighting (source, generation, offset);
CREATE INDEX sighting_stream ON sighting (event) WHERE rank = 0;
CREATE INDEX event_start ON event (conversation) WHERE kind = 'session_start';
-- What only a stream tells (rank 0) of a conversation whose own record (rank 3) another source holds.
CREATE VIEW streamed AS
  SELECT e.id, e.uid, e.conversation, e.kind, e.outcome
  FROM (SELECT DISTINCT event FROM sighting WHERE rank = 0) r CROSS JOIN event e ON e.id = r.event
  WHERE NOT EXISTS (SELECT 1 FROM sighting s WHERE s.event = e.id AND s.rank > 0)
    AND EXISTS (SELECT 1 FROM event o JOIN sighting s ON s.event = o.id
                WHERE o.conversation = e.conversation AND o.kind = 'session_start' AND s.rank = 3);
-- Hook payloads without any id: equal ones within two seconds are one event.
CREATE INDEX sighting_payload ON sighting (line_hash, offset) WHERE native_space = 'payload';

CREATE TABLE evidence (
  id           INTEGER PRIMARY KEY,
  uid          BLOB NOT NULL,
  event_uid    BLOB NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  offset       INTEGER NOT NULL,
  length       INTEGER NOT NULL,
  line_hash    BLOB NOT NULL,
  path         TEXT NOT NULL,
  idx          INTEGER NOT NULL,
  rank         INTEGER NOT NULL,
  ingress      TEXT NOT NULL,
  kind         TEXT NOT NULL,
  payload      TEXT NOT NULL,
  provenance   TEXT NOT NULL,
  provenance_source TEXT NOT NULL,
  extension    TEXT,
  observed_at  TEXT NOT NULL,
  order_us     INTEGER NOT NULL,
  purged       INTEGER NOT NULL DEFAULT 0
);
-- Source first: ids are spread evenly, and an index that begins with them would be written all over
-- by each transaction.
CREATE UNIQUE INDEX evidence_uid ON evidence (source, generation, uid);
CREATE INDEX evidence_conversation ON evidence (conversation, order_us);
CREATE INDEX evidence_source ON evidence (source, generation, offset);

CREATE TABLE claim (
  id           INTEGER PRIMARY KEY,
  uid          BLOB NOT NULL,
  event_uid    BLOB NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  offset       INTEGER NOT NULL,
  length       INTEGER NOT NULL,
  line_hash    BLOB NOT NULL,
  path         TEXT NOT NULL,
  idx          INTEGER NOT NULL,
  ingress      TEXT NOT NULL,
  turn_id      TEXT,
  text         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  claimed_at   TEXT NOT NULL,
  order_us     INTEGER NOT NULL
);
CREATE UNIQUE INDEX claim_uid ON claim (source, generation, uid);
CREATE INDEX claim_conversation ON claim (conversation, order_us);
CREATE INDEX claim_source ON claim (source, generation, offset);

CREATE TABLE usage (
  id           INTEGER PRIMARY KEY,
  uid          BLOB NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  offset       INTEGER NOT NULL,
  length       INTEGER NOT NULL,
  line_hash    BLOB NOT NULL,
  path         TEXT NOT NULL,
  idx          INTEGER NOT NULL,
  scope        TEXT NOT NULL,
  standing     TEXT NOT NULL,
  floor        TEXT,
  response_id  TEXT,
  request_id   TEXT,
  turn_id      TEXT,
  model        TEXT,
  epoch        INTEGER NOT NULL,
  sequence     INTEGER NOT NULL,
  branch       INTEGER NOT NULL,
  copied_from  TEXT,
  input        INTEGER,
  cached_input INTEGER,
  cache_write_input INTEGER,
  output       INTEGER,
  reasoning_output  INTEGER,
  total        INTEGER,
  uncached_input INTEGER,
  observed_at  TEXT,
  at_us        INTEGER NOT NULL,
  order_us     INTEGER NOT NULL
);
CREATE UNIQUE INDEX usage_source ON usage (source, generation, offset, uid, path);
CREATE INDEX usage_conversation ON usage (conversation);

-- What was worked out from usage reports and kept, with a hash of the sources it was worked out from.
CREATE TABLE derived (
  name  TEXT PRIMARY KEY,
  stamp BLOB NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE lineage (
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  relation     TEXT NOT NULL,
  related_key  TEXT NOT NULL,
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  offset       INTEGER NOT NULL,
  line_hash    BLOB NOT NULL,
  path         TEXT NOT NULL,
  PRIMARY KEY (conversation, relation, related_key, source, generation)
) WITHOUT ROWID;
CREATE INDEX lineage_related ON lineage (related_key);
CREATE INDEX lineage_source ON lineage (source, generation);
CREATE VIEW visible_lineage AS
  SELECT l.*, s.kind = 'messages' AS hearsay FROM lineage l JOIN source s ON s.id = l.source AND s.generation = l.generation;

CREATE TABLE capability (
  conversation   INTEGER NOT NULL REFERENCES conversation (id),
  provider       TEXT NOT NULL,
  source         INTEGER NOT NULL REFERENCES source (id),
  generation     INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  signals        TEXT NOT NULL,
  notes          TEXT NOT NULL,
  observed_at    TEXT NOT NULL,
  PRIMARY KEY (conversation, provider, source, generation)
) WITHOUT ROWID;
CREATE INDEX capability_source ON capability (source, generation);
CREATE VIEW visible_capability AS
  SELECT k.*, s.kind = 'messages' AS hearsay FROM capability k JOIN source s ON s.id = k.source AND s.generation = k.generation;

CREATE TABLE loss (
  id           INTEGER PRIMARY KEY,
  conversation INTEGER REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  offset       INTEGER NOT NULL,
  length       INTEGER NOT NULL,
  line_hash    BLOB NOT NULL,
  path         TEXT NOT NULL,
  reason       TEXT NOT NULL,
  detail       TEXT NOT NULL,
  count        INTEGER NOT NULL,
  at_us        INTEGER NOT NULL
);
CREATE UNIQUE INDEX loss_place ON loss (source, generation, offset, path, reason, detail);
CREATE INDEX loss_conversation ON loss (conversation);

CREATE TABLE quarantine (
  id         INTEGER PRIMARY KEY,
  source     INTEGER NOT NULL REFERENCES source (id),
  generation INTEGER NOT NULL,
  offset     INTEGER NOT NULL,
  length     INTEGER NOT NULL,
  line_hash  BLOB NOT NULL,
  reason     TEXT NOT NULL,
  at_us      INTEGER NOT NULL
);
CREATE UNIQUE INDEX quarantine_place ON quarantine (source, generation, offset);

-- Journal segments being drained: how far each is stored. Kept until the file is gone.
CREATE TABLE journal_segment (
  name   TEXT PRIMARY KEY,
  offset INTEGER NOT NULL
) WITHOUT ROWID;
