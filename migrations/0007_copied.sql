-- History that a fork's file repeats under its own id. A chain of lines begins with a file's first
-- line or a compaction; conversations that tell the same beginning are forks of one another.
CREATE TABLE chain_head (
  head         TEXT NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id),
  source       INTEGER NOT NULL REFERENCES source (id),
  generation   INTEGER NOT NULL,
  PRIMARY KEY (head, conversation, source, generation)
) WITHOUT ROWID;
CREATE INDEX chain_head_conversation ON chain_head (conversation);
CREATE INDEX chain_head_source ON chain_head (source, generation);

-- Events that count for another conversation, their origin. Worked out again with each change.
CREATE TABLE copied (
  event        INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  origin       INTEGER NOT NULL
);
CREATE INDEX copied_conversation ON copied (conversation);
CREATE INDEX copied_origin ON copied (origin);
CREATE TRIGGER copied_forgets AFTER DELETE ON event
BEGIN
  DELETE FROM copied WHERE event = old.id;
END;
