-- Full text over what is stored. The text stays where it is; the index can be dropped and built again
-- from the view. FTS5 itself never reads through it: what it does so may not use json_tree.

CREATE VIEW searchable AS
  SELECT s.id, s.text AS said,
    CASE WHEN json_valid(s.tool_input) THEN
      (SELECT group_concat(atom, char(10)) FROM json_tree(s.tool_input) WHERE type = 'text') END AS input,
    CASE WHEN json_valid(s.tool_response) THEN
      (SELECT group_concat(atom, char(10)) FROM json_tree(s.tool_response) WHERE type = 'text') END AS result
  FROM sighting s;

CREATE VIRTUAL TABLE search USING fts5 (
  said, input, result,
  content = 'searchable', content_rowid = 'id', columnsize = 0,
  tokenize = 'unicode61 remove_diacritics 2'
);
-- What is deleted leaves the index itself, and not only its answers.
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

-- Sightings up to this row are in the index.
CREATE TABLE search_state (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  indexed INTEGER NOT NULL
);
INSERT INTO search_state (id, indexed) VALUES (1, 0);

CREATE TRIGGER search_forgets AFTER DELETE ON sighting
WHEN old.id <= (SELECT indexed FROM search_state)
BEGIN
  INSERT INTO search (search, rowid, said, input, result) VALUES (
    'delete', old.id, old.text,
    CASE WHEN json_valid(old.tool_input) THEN
      (SELECT group_concat(atom, char(10)) FROM json_tree(old.tool_input) WHERE type = 'text') END,
    CASE WHEN json_valid(old.tool_response) THEN
      (SELECT group_concat(atom, char(10)) FROM json_tree(old.tool_response) WHERE type = 'text') END);
  -- A row number that is free again will be given to another sighting.
  UPDATE search_state SET indexed = min(indexed, coalesce((SELECT max(id) FROM sighting), 0));
END;
