-- The nodes that run on this database: one row per name. Each start and each rejoin
-- increments incarnation.
create table nodes (
	node text collate "C" primary key,
	incarnation bigint not null,
	lease_until timestamptz not null,
	version int not null,
	program text not null,
	since timestamptz not null
) with (fillfactor = 50);

-- The number of the last transaction that each node's writer committed, and the session of
-- its current connection. Each transaction of a writer updates its row first. A connection
-- that the writer has abandoned therefore cannot commit. If the answer to a commit is lost,
-- the row shows whether the transaction was committed.
create table writers (
	node text collate "C" primary key,
	incarnation bigint not null,
	session bigint not null,
	committed bigint not null
) with (fillfactor = 20);

-- An epoch is never used twice, even if its actor was purged.
create sequence epochs;

-- The owner of each actor (null: none), and the seq of the actor's last record (head).
create table owners (
	actor bytea primary key,
	node text collate "C",
	incarnation bigint,
	epoch bigint not null,
	head bigint not null
) with (fillfactor = 50);
create index owners_node on owners (node) where node is not null;

-- Values have the format of package layout, with their seals. PostgreSQL does not compress
-- them, because large values are already compressed.
create table records (
	actor bytea,
	seq bigint, -- of the chunk's first record
	chunk bytea not null,
	primary key (actor, seq)
);
alter table records alter chunk set storage external;

create table snapshots (
	actor bytea primary key,
	head bytea not null
);
alter table snapshots alter head set storage external;

create table snapshot_parts (
	actor bytea,
	id bigint,
	part int,
	state bytea not null,
	primary key (actor, id, part)
);
alter table snapshot_parts alter state set storage external;

-- A row without a value is a tombstone; expires is then the time of the deletion.
create table rows (
	tbl text collate "C",
	key bytea,
	value bytea,
	expires timestamptz,
	changed xid8 not null default pg_current_xact_id(),
	primary key (tbl, key)
);
alter table rows alter value set storage external;
create index rows_changed on rows (changed);
create index rows_expires on rows (expires) where expires is not null;

-- enter starts the next incarnation of a node. If another incarnation is alive, enter
-- returns only the end of its lease (until), and the microseconds until then (wait). p_own
-- is the caller's previous incarnation, or 0.
create function enter(p_node text, p_lease interval, p_version int, p_program text, p_own bigint,
	out incarnation bigint, out session bigint, out until timestamptz, out wait bigint) language plpgsql as $$
declare
	n nodes;
begin
	insert into nodes values (p_node, 0, '-infinity', 0, '', now()) on conflict do nothing;
	select * into strict n from nodes where node = p_node for update;
	until := n.lease_until;
	if n.lease_until > clock_timestamp() and n.incarnation <> p_own then
		wait := extract(epoch from n.lease_until - clock_timestamp()) * 1000000; -- microseconds
		return;
	end if;
	incarnation := n.incarnation + 1;
	update nodes set incarnation = enter.incarnation, lease_until = clock_timestamp() + p_lease,
		version = p_version, program = p_program, since = clock_timestamp() where node = p_node;
	insert into writers as w values (p_node, enter.incarnation, 1, 0)
		on conflict (node) do update set incarnation = excluded.incarnation, session = w.session + 1, committed = 0
		returning w.session into session;
end $$;

-- renew fails with AT001 if the lease has expired, because another node can already have
-- taken over actors. The row is locked before the comparison with the clock, so that
-- lease_until cannot change between them.
create function renew(p_node text, p_incarnation bigint, p_lease interval) returns void language plpgsql as $$
begin
	perform from nodes where node = p_node for no key update;
	update nodes set lease_until = clock_timestamp() + p_lease
		where node = p_node and incarnation = p_incarnation and lease_until > clock_timestamp();
	if not found then
		raise exception 'the lease is lost' using errcode = 'AT001';
	end if;
end $$;

-- leave releases all actors of a node, and ends its lease.
create function leave(p_node text, p_incarnation bigint) returns void language plpgsql as $$
begin
	perform from owners where node = p_node and incarnation = p_incarnation order by actor for update;
	delete from owners where node = p_node and incarnation = p_incarnation and head = 0;
	update owners set node = null, incarnation = null where node = p_node and incarnation = p_incarnation;
	update nodes set lease_until = clock_timestamp() where node = p_node and incarnation = p_incarnation;
end $$;

-- living returns whether a node's lease is valid. It waits for a renewal in progress, and
-- blocks further renewals until the end of the transaction.
create function living(p_node text, p_incarnation bigint) returns boolean language plpgsql as $$
declare
	until timestamptz;
begin
	select lease_until into until from nodes where node = p_node and incarnation = p_incarnation for share;
	return found and until > clock_timestamp();
end $$;

-- begin_commit is the first statement of a writer's transaction. It fails with AT001 if the
-- node has lost its lease, or if the writer has abandoned the connection. It fails with
-- AT002 if the node does not own some of the logs. The detail then contains the indexes of
-- these logs in p_actors, from 0.
create function begin_commit(p_node text, p_incarnation bigint, p_session bigint, p_number bigint,
	p_actors bytea[], p_epochs bigint[], p_heads bigint[], p_tails bigint[]) returns void language plpgsql as $$
declare
	n int;
	lost text;
begin
	update writers set committed = p_number
		where node = p_node and incarnation = p_incarnation and session = p_session;
	if not found or not exists (select from nodes
		where node = p_node and incarnation = p_incarnation and lease_until > clock_timestamp()) then
		raise exception 'the lease is lost' using errcode = 'AT001';
	end if;
	if cardinality(p_actors) = 0 then
		return;
	end if;
	-- All functions lock owners in the same order, which prevents deadlocks. The update is a
	-- separate statement, so that it reads the rows as they are after the wait for the locks.
	perform from owners where actor = any(p_actors) order by actor for no key update;
	update owners o set head = w.tail
		from unnest(p_actors, p_epochs, p_heads, p_tails) as w(actor, epoch, head, tail)
		where o.actor = w.actor and o.epoch = w.epoch and o.head = w.head
			-- This form prevents the use of the index owners_node, which would return all
			-- actors of the node.
			and o.node is not distinct from p_node and o.incarnation = p_incarnation;
	get diagnostics n = row_count;
	if n < cardinality(p_actors) then
		select string_agg((w.place - 1)::text, ',') into lost
			from unnest(p_actors) with ordinality as w(actor, place)
			-- Rows that this transaction has just updated belong to the node.
			where not exists (select from owners o where o.actor = w.actor and o.xmin = pg_current_xact_id()::xid);
		raise exception 'logs are lost' using errcode = 'AT002', detail = lost;
	end if;
end $$;

-- hold_log fails with AT002 if the node does not own the log. Otherwise no other node can
-- take the log until the end of the transaction.
create function hold_log(p_node text, p_incarnation bigint, p_actor bytea, p_epoch bigint) returns void language plpgsql as $$
begin
	perform from owners where actor = p_actor and node = p_node and incarnation = p_incarnation and epoch = p_epoch for share;
	if not found then
		raise exception 'the log is lost' using errcode = 'AT002', detail = '0';
	end if;
end $$;

-- take_log makes a node the owner of an actor, and returns the new epoch and the seq of the
-- actor's last record. It fails with AT001 if the node has lost its lease. It fails with
-- AT003, and the owner's name as the detail, if another living node owns the actor.
create function take_log(p_node text, p_incarnation bigint, p_actor bytea, out epoch bigint, out head bigint) language plpgsql as $$
declare
	o owners;
begin
	insert into owners values (p_actor, null, null, 0, 0) on conflict do nothing;
	select * into strict o from owners where actor = p_actor for update;
	if not living(p_node, p_incarnation) then
		raise exception 'the lease is lost' using errcode = 'AT001';
	end if;
	if o.node is not null and (o.node, o.incarnation) <> (p_node, p_incarnation) and living(o.node, o.incarnation) then
		raise exception 'owned' using errcode = 'AT003', detail = o.node;
	end if;
	epoch := nextval('epochs');
	head := o.head;
	update owners set node = p_node, incarnation = p_incarnation, epoch = take_log.epoch where actor = p_actor;
end $$;

-- give_logs releases actors. It deletes the rows of actors that never had a record.
create function give_logs(p_node text, p_incarnation bigint, p_actors bytea[], p_epochs bigint[]) returns void language plpgsql as $$
begin
	perform from owners where actor = any(p_actors) order by actor for update;
	delete from owners o using unnest(p_actors, p_epochs) as w(actor, epoch)
		where o.actor = w.actor and o.node = p_node and o.incarnation = p_incarnation and o.epoch = w.epoch and o.head = 0;
	update owners o set node = null, incarnation = null from unnest(p_actors, p_epochs) as w(actor, epoch)
		where o.actor = w.actor and o.node = p_node and o.incarnation = p_incarnation and o.epoch = w.epoch;
end $$;
