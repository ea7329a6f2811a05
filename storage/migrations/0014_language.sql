-- The language in which a person uses the console.

ALTER TABLE users ADD COLUMN language TEXT;
