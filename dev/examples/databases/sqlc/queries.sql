-- name: InsertOrder :exec
INSERT INTO orders (id, parent, sno, item) VALUES ($1, $2, $3, $4);

-- name: FindOrder :one
SELECT id, parent, sno, item FROM orders WHERE id = $1;

-- name: FindOrderBySno :one
SELECT id, parent, sno, item FROM orders WHERE sno = $1;

-- name: OrdersMade :many
SELECT id, parent, sno, item FROM orders WHERE id >= sqlc.arg(first) AND id <= sqlc.arg(last) ORDER BY id;
