-- @node all
CREATE DATABASE IF NOT EXISTS shop;
CREATE TABLE shop.orders (d Date, id UInt64, customer String) ENGINE = ReplicatedMergeTree('/clickhouse/tables/shop/orders', '{replica}') PARTITION BY toYYYYMM(d) ORDER BY id;
-- @node n1
-- @repeat 12
INSERT INTO shop.orders SELECT toDate('2026-01-01') + number % 28, number + {i} * 1000, 'a' FROM numbers(20);
-- @sleep 6
-- @sync 30
-- @proxy n1 refuse
-- @repeat 12
INSERT INTO shop.orders SELECT toDate('2026-02-01') + number % 28, number + {i} * 1000, 'b' FROM numbers(20);
-- @sleep 8
-- @proxy n1 pass
-- @sync 60
-- @repeat 4
INSERT INTO shop.orders SELECT toDate('2026-03-01') + number % 28, number + {i} * 1000, 'c' FROM numbers(20);
-- @sync 30
