-- What SQLite does in its own way: the index of words. It holds no text of its own, only which three letters occur in
-- which block (session * 2^32 + first record), and what is removed from it is overwritten.

CREATE VIRTUAL TABLE words USING fts5 (said, content = '', detail = none, columnsize = 0, tokenize = 'trigram');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
