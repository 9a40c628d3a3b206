-- The part that only SQLite has: the search index. It stores no text, only which sequences of three letters occur in which
-- block (session * 2^32 + first record). What is removed from it is overwritten.

CREATE VIRTUAL TABLE words USING fts5 (said, content = '', detail = none, columnsize = 0, tokenize = 'trigram');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
