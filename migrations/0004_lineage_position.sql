-- Up to where a fork inherits the history of its origin, where the source states it.
ALTER TABLE lineage ADD COLUMN position INTEGER;
