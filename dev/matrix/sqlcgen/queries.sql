-- name: PutNanoflakeId :exec
INSERT INTO nanoflake_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetNanoflakeId :one
SELECT id FROM nanoflake_id WHERE n = $1;

-- name: ParentNanoflakeId :one
SELECT parent FROM nanoflake_id WHERE n = $1;

-- name: FindNanoflakeId :many
SELECT n FROM nanoflake_id WHERE id = $1 ORDER BY n;

-- name: FindParentNanoflakeId :many
SELECT n FROM nanoflake_id WHERE parent = $1 ORDER BY n;

-- name: DropNanoflakeId :exec
DELETE FROM nanoflake_id WHERE id = $1;

-- name: PutNanoflakeText :exec
INSERT INTO nanoflake_text (n, id, parent) VALUES ($1, $2, $3);

-- name: GetNanoflakeText :one
SELECT id FROM nanoflake_text WHERE n = $1;

-- name: ParentNanoflakeText :one
SELECT parent FROM nanoflake_text WHERE n = $1;

-- name: FindNanoflakeText :many
SELECT n FROM nanoflake_text WHERE id = $1 ORDER BY n;

-- name: FindParentNanoflakeText :many
SELECT n FROM nanoflake_text WHERE parent = $1 ORDER BY n;

-- name: DropNanoflakeText :exec
DELETE FROM nanoflake_text WHERE id = $1;

-- name: PutUlidflakeId :exec
INSERT INTO ulidflake_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetUlidflakeId :one
SELECT id FROM ulidflake_id WHERE n = $1;

-- name: ParentUlidflakeId :one
SELECT parent FROM ulidflake_id WHERE n = $1;

-- name: FindUlidflakeId :many
SELECT n FROM ulidflake_id WHERE id = $1 ORDER BY n;

-- name: FindParentUlidflakeId :many
SELECT n FROM ulidflake_id WHERE parent = $1 ORDER BY n;

-- name: DropUlidflakeId :exec
DELETE FROM ulidflake_id WHERE id = $1;

-- name: PutUlidflakeText :exec
INSERT INTO ulidflake_text (n, id, parent) VALUES ($1, $2, $3);

-- name: GetUlidflakeText :one
SELECT id FROM ulidflake_text WHERE n = $1;

-- name: ParentUlidflakeText :one
SELECT parent FROM ulidflake_text WHERE n = $1;

-- name: FindUlidflakeText :many
SELECT n FROM ulidflake_text WHERE id = $1 ORDER BY n;

-- name: FindParentUlidflakeText :many
SELECT n FROM ulidflake_text WHERE parent = $1 ORDER BY n;

-- name: DropUlidflakeText :exec
DELETE FROM ulidflake_text WHERE id = $1;

-- name: PutUlidflakeScalableId :exec
INSERT INTO ulidflake_scalable_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetUlidflakeScalableId :one
SELECT id FROM ulidflake_scalable_id WHERE n = $1;

-- name: ParentUlidflakeScalableId :one
SELECT parent FROM ulidflake_scalable_id WHERE n = $1;

-- name: FindUlidflakeScalableId :many
SELECT n FROM ulidflake_scalable_id WHERE id = $1 ORDER BY n;

-- name: FindParentUlidflakeScalableId :many
SELECT n FROM ulidflake_scalable_id WHERE parent = $1 ORDER BY n;

-- name: DropUlidflakeScalableId :exec
DELETE FROM ulidflake_scalable_id WHERE id = $1;

-- name: PutUlidflakeScalableText :exec
INSERT INTO ulidflake_scalable_text (n, id, parent) VALUES ($1, $2, $3);

-- name: GetUlidflakeScalableText :one
SELECT id FROM ulidflake_scalable_text WHERE n = $1;

-- name: ParentUlidflakeScalableText :one
SELECT parent FROM ulidflake_scalable_text WHERE n = $1;

-- name: FindUlidflakeScalableText :many
SELECT n FROM ulidflake_scalable_text WHERE id = $1 ORDER BY n;

-- name: FindParentUlidflakeScalableText :many
SELECT n FROM ulidflake_scalable_text WHERE parent = $1 ORDER BY n;

-- name: DropUlidflakeScalableText :exec
DELETE FROM ulidflake_scalable_text WHERE id = $1;

-- name: PutSnowflakesiId :exec
INSERT INTO snowflakesi_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetSnowflakesiId :one
SELECT id FROM snowflakesi_id WHERE n = $1;

-- name: ParentSnowflakesiId :one
SELECT parent FROM snowflakesi_id WHERE n = $1;

-- name: FindSnowflakesiId :many
SELECT n FROM snowflakesi_id WHERE id = $1 ORDER BY n;

-- name: FindParentSnowflakesiId :many
SELECT n FROM snowflakesi_id WHERE parent = $1 ORDER BY n;

-- name: DropSnowflakesiId :exec
DELETE FROM snowflakesi_id WHERE id = $1;

-- name: PutScru160Id :exec
INSERT INTO scru160_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetScru160Id :one
SELECT id FROM scru160_id WHERE n = $1;

-- name: ParentScru160Id :one
SELECT parent FROM scru160_id WHERE n = $1;

-- name: FindScru160Id :many
SELECT n FROM scru160_id WHERE id = $1 ORDER BY n;

-- name: FindParentScru160Id :many
SELECT n FROM scru160_id WHERE parent = $1 ORDER BY n;

-- name: DropScru160Id :exec
DELETE FROM scru160_id WHERE id = $1;

-- name: PutScru160Binary :exec
INSERT INTO scru160_binary (n, id, parent) VALUES ($1, $2, $3);

-- name: GetScru160Binary :one
SELECT id FROM scru160_binary WHERE n = $1;

-- name: ParentScru160Binary :one
SELECT parent FROM scru160_binary WHERE n = $1;

-- name: FindScru160Binary :many
SELECT n FROM scru160_binary WHERE id = $1 ORDER BY n;

-- name: FindParentScru160Binary :many
SELECT n FROM scru160_binary WHERE parent = $1 ORDER BY n;

-- name: DropScru160Binary :exec
DELETE FROM scru160_binary WHERE id = $1;

-- name: PutSnoId :exec
INSERT INTO sno_id (n, id, parent) VALUES ($1, $2, $3);

-- name: GetSnoId :one
SELECT id FROM sno_id WHERE n = $1;

-- name: ParentSnoId :one
SELECT parent FROM sno_id WHERE n = $1;

-- name: FindSnoId :many
SELECT n FROM sno_id WHERE id = $1 ORDER BY n;

-- name: FindParentSnoId :many
SELECT n FROM sno_id WHERE parent = $1 ORDER BY n;

-- name: DropSnoId :exec
DELETE FROM sno_id WHERE id = $1;

-- name: PutSnoText :exec
INSERT INTO sno_text (n, id, parent) VALUES ($1, $2, $3);

-- name: GetSnoText :one
SELECT id FROM sno_text WHERE n = $1;

-- name: ParentSnoText :one
SELECT parent FROM sno_text WHERE n = $1;

-- name: FindSnoText :many
SELECT n FROM sno_text WHERE id = $1 ORDER BY n;

-- name: FindParentSnoText :many
SELECT n FROM sno_text WHERE parent = $1 ORDER BY n;

-- name: DropSnoText :exec
DELETE FROM sno_text WHERE id = $1;

-- name: PutSnoUuid :exec
INSERT INTO sno_uuid (n, id, parent) VALUES ($1, $2, $3);

-- name: GetSnoUuid :one
SELECT id FROM sno_uuid WHERE n = $1;

-- name: ParentSnoUuid :one
SELECT parent FROM sno_uuid WHERE n = $1;

-- name: FindSnoUuid :many
SELECT n FROM sno_uuid WHERE id = $1 ORDER BY n;

-- name: FindParentSnoUuid :many
SELECT n FROM sno_uuid WHERE parent = $1 ORDER BY n;

-- name: DropSnoUuid :exec
DELETE FROM sno_uuid WHERE id = $1;
