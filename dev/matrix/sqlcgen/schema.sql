-- A table for each type of IDs: a column for the ID, and a column that may be NULL.

CREATE TABLE nanoflake_id (
	n integer NOT NULL PRIMARY KEY,
	id bigint NOT NULL,
	parent bigint
);

CREATE TABLE nanoflake_text (
	n integer NOT NULL PRIMARY KEY,
	id varchar(13) COLLATE "C" NOT NULL,
	parent varchar(13) COLLATE "C"
);

CREATE TABLE ulidflake_id (
	n integer NOT NULL PRIMARY KEY,
	id bigint NOT NULL,
	parent bigint
);

CREATE TABLE ulidflake_text (
	n integer NOT NULL PRIMARY KEY,
	id varchar(13) COLLATE "C" NOT NULL,
	parent varchar(13) COLLATE "C"
);

CREATE TABLE ulidflake_scalable_id (
	n integer NOT NULL PRIMARY KEY,
	id bigint NOT NULL,
	parent bigint
);

CREATE TABLE ulidflake_scalable_text (
	n integer NOT NULL PRIMARY KEY,
	id varchar(13) COLLATE "C" NOT NULL,
	parent varchar(13) COLLATE "C"
);

CREATE TABLE snowflakesi_id (
	n integer NOT NULL PRIMARY KEY,
	id bigint NOT NULL,
	parent bigint
);

CREATE TABLE scru160_id (
	n integer NOT NULL PRIMARY KEY,
	id varchar(32) COLLATE "C" NOT NULL,
	parent varchar(32) COLLATE "C"
);

CREATE TABLE scru160_binary (
	n integer NOT NULL PRIMARY KEY,
	id bytea NOT NULL,
	parent bytea
);

CREATE TABLE sno_id (
	n integer NOT NULL PRIMARY KEY,
	id bytea NOT NULL,
	parent bytea
);

CREATE TABLE sno_text (
	n integer NOT NULL PRIMARY KEY,
	id varchar(16) COLLATE "C" NOT NULL,
	parent varchar(16) COLLATE "C"
);

CREATE TABLE sno_uuid (
	n integer NOT NULL PRIMARY KEY,
	id uuid NOT NULL,
	parent uuid
);
