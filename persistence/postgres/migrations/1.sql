-- Who runs on this database. One row a name; incarnation grows with each start.
create table nodes (
	node text collate "C" primary key,
	incarnation bigint not null,
	lease_until timestamptz not null,
	version int not null,
	program text not null,
	since timestamptz not null
) with (fillfactor = 50);

-- What each node's writer committed last, and on which of its connections. Each
-- transaction of a writer changes its row first: so a connection that was given
-- up cannot commit any more, and a commit whose answer was lost can be read.
create table writers (
	node text collate "C" primary key,
	incarnation bigint not null,
	session bigint not null,
	committed bigint not null
) with (fillfactor = 20);

-- Epochs are never given twice, also not to an actor that was purged.
create sequence epochs;

-- Who owns an actor (nobody: null), and the seq of its last record.
create table owners (
	actor bytea primary key,
	node text collate "C",
	incarnation bigint,
	epoch bigint not null,
	head bigint not null
) with (fillfactor = 50);
create index owners_node on owners (node) where node is not null;

-- Values are those of package layout, with their seals. They are stored as they
-- are: what is worth compressing is so already.
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

-- A row without a value is a tombstone, and expires is when it was deleted.
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

-- enter starts a node's next incarnation, unless another one is alive: then it
-- returns only until when. p_own is the caller's own earlier one, or 0.
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

-- renew fails with AT001 when the lease is over: others may have judged by it.
-- The row is locked first: what is compared with the clock then stays.
create function renew(p_node text, p_incarnation bigint, p_lease interval) returns void language plpgsql as $$
begin
	perform from nodes where node = p_node for no key update;
	update nodes set lease_until = clock_timestamp() + p_lease
		where node = p_node and incarnation = p_incarnation and lease_until > clock_timestamp();
	if not found then
		raise exception 'the lease is lost' using errcode = 'AT001';
	end if;
end $$;

-- leave gives everything back and ends the lease.
create function leave(p_node text, p_incarnation bigint) returns void language plpgsql as $$
begin
	perform from owners where node = p_node and incarnation = p_incarnation order by actor for update;
	delete from owners where node = p_node and incarnation = p_incarnation and head = 0;
	update owners set node = null, incarnation = null where node = p_node and incarnation = p_incarnation;
	update nodes set lease_until = clock_timestamp() where node = p_node and incarnation = p_incarnation;
end $$;

-- living says whether a node's lease holds, and holds it so until the end of
-- the transaction: a renewal under way is waited for, and none slips in behind.
create function living(p_node text, p_incarnation bigint) returns boolean language plpgsql as $$
declare
	until timestamptz;
begin
	select lease_until into until from nodes where node = p_node and incarnation = p_incarnation for share;
	return found and until > clock_timestamp();
end $$;

-- begin_commit opens a writer's transaction: it fails with AT001 when the node
-- lost its lease or the connection was given up, and with AT002 and the places
-- of those who lost their logs, from 0.
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
	-- In one order everywhere, so that nobody waits in a circle. The update
	-- below is a statement of its own: it sees what the lock waited for.
	perform from owners where actor = any(p_actors) order by actor for no key update;
	update owners o set head = w.tail
		from unnest(p_actors, p_epochs, p_heads, p_tails) as w(actor, epoch, head, tail)
		where o.actor = w.actor and o.epoch = w.epoch and o.head = w.head
			-- Not by the index of nodes, under which everybody here is found.
			and o.node is not distinct from p_node and o.incarnation = p_incarnation;
	get diagnostics n = row_count;
	if n < cardinality(p_actors) then
		select string_agg((w.place - 1)::text, ',') into lost
			from unnest(p_actors) with ordinality as w(actor, place)
			-- What this transaction has just changed is not lost.
			where not exists (select from owners o where o.actor = w.actor and o.xmin = pg_current_xact_id()::xid);
		raise exception 'logs are lost' using errcode = 'AT002', detail = lost;
	end if;
end $$;

-- hold_log fails with AT002 when the log is not this owner's, and keeps it so
-- until the end of the transaction.
create function hold_log(p_node text, p_incarnation bigint, p_actor bytea, p_epoch bigint) returns void language plpgsql as $$
begin
	perform from owners where actor = p_actor and node = p_node and incarnation = p_incarnation and epoch = p_epoch for share;
	if not found then
		raise exception 'the log is lost' using errcode = 'AT002', detail = '0';
	end if;
end $$;

-- take_log gives an actor to a node, with a new epoch. AT003, with the node's
-- name, when another living node owns it.
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

-- give_logs gives actors back. One that never had a record is forgotten.
create function give_logs(p_node text, p_incarnation bigint, p_actors bytea[], p_epochs bigint[]) returns void language plpgsql as $$
begin
	perform from owners where actor = any(p_actors) order by actor for update;
	delete from owners o using unnest(p_actors, p_epochs) as w(actor, epoch)
		where o.actor = w.actor and o.node = p_node and o.incarnation = p_incarnation and o.epoch = w.epoch and o.head = 0;
	update owners o set node = null, incarnation = null from unnest(p_actors, p_epochs) as w(actor, epoch)
		where o.actor = w.actor and o.node = p_node and o.incarnation = p_incarnation and o.epoch = w.epoch;
end $$;
