CREATE TABLE orders (
	id     BIGINT PRIMARY KEY,
	parent BIGINT REFERENCES orders,
	item   TEXT NOT NULL
);
