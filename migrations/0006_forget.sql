-- What is to stay forgotten. A tombstone holds a hash and no content.

-- A conversation that was forgotten, by a hash of its key; root_hash is that of the conversation on
-- whose account it went. conversation is set while rows of it are still being removed.
CREATE TABLE forgotten (
  key_hash     BLOB PRIMARY KEY,
  root_hash    BLOB NOT NULL,
  at_us        INTEGER NOT NULL,
  conversation INTEGER
) WITHOUT ROWID;
CREATE INDEX forgotten_root ON forgotten (root_hash);
CREATE INDEX forgotten_going ON forgotten (conversation) WHERE conversation IS NOT NULL;
-- Conversations that nobody sees any more.
CREATE VIEW going AS SELECT conversation FROM forgotten WHERE conversation IS NOT NULL;

-- A file that tells of nothing but forgotten conversations: hashes of its path and of its first
-- bytes. head_bytes is 0 where these are not known (compressed files); then the path alone counts.
CREATE TABLE forgotten_source (
  path_hash  BLOB PRIMARY KEY,
  head_bytes INTEGER NOT NULL,
  head_hash  BLOB
) WITHOUT ROWID;

-- Sources that told of a conversation being removed: settled once its rows are gone.
CREATE TABLE forgetting_source (
  source INTEGER PRIMARY KEY REFERENCES source (id) ON DELETE CASCADE
);

-- Where a conversation was exported to.
CREATE TABLE exported (
  conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  folder       TEXT NOT NULL,
  at_us        INTEGER NOT NULL,
  PRIMARY KEY (conversation, folder)
) WITHOUT ROWID;

CREATE INDEX sighting_raw ON sighting (order_us) WHERE raw IS NOT NULL;
