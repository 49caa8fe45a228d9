package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// This file contains the limits that Examine and a running server share. Examine uses them before a
// workshop. The server uses them during a workshop, for its status page.

// These are the defaults.
const (
	// People is the expected number of people.
	People = 300
	// BackupAge is the maximum age of the last backup. It fits a nightly backup, with two hours of
	// margin for its duration.
	BackupAge = 26 * time.Hour
)

// Descriptors judges the limit of open files for a number of people. whose describes the process
// that has the limit.
func Descriptors(may uint64, whose string, people int) Finding {
	need := GrowthOf(people).Descriptors()
	if may < need {
		return bad("LimitNOFILE=65536 in atelier.service, or ulimit -n 65536 before the start", "%s can open %d files, and %d people need %d", whose, may, people, need)
	}
	return fine("%s can open %d files; %d people need %d", whose, may, people, need)
}

// Memory judges the memory, in bytes, that the machine or a container's limit allows for the server
// and everything else on the machine.
func Memory(has uint64, people int) Finding {
	need := GrowthOf(people).Memory
	if has < need {
		return bad("give the machine or the container more memory", "there are %s of memory, and a server for %d people needs %s", binary(has), people, binary(need))
	}
	return fine("there are %s of memory; a server for %d people needs %s", binary(has), people, binary(need))
}

const gigabyte = 1 << 30

// Space judges the free bytes on the data folder's disk, for a day with a number of people. The
// server keeps minFree of them free.
func Space(free, minFree uint64, people int) Finding {
	g := GrowthOf(people)
	need := minFree + g.Written + g.HandedIn()
	if free < need {
		return bad("free some space, or put the data folder on a larger disk; below storage.min_free_mib the server rejects writes",
			"%.1f GB are free, and a day with %d people can need %.1f", gb(free), people, gb(need))
	}
	return fine("%.1f GB are free; a day with %d people needs %.1f at most", gb(free), people, gb(need))
}

func gb(bytes uint64) float64 { return float64(bytes) / gigabyte }

// People notice latencies from these values on. Each message waits for one write. The messages of a
// room are visible to all only after the slowest of their writes.
const (
	// SlowSync is the limit for the median of many writes.
	SlowSync = 20 * time.Millisecond
	// SlowTail is the limit for the 99th percentile of writes and of the waits before them.
	SlowTail = 250 * time.Millisecond
)

// slowDisk is the remedy if the disk is slow.
const slowDisk = "keep the data folder on a local SSD, not on a network disk"

// Sync judges the median time until a write is durable.
func Sync(took time.Duration) Finding {
	if took > SlowSync {
		return bad(slowDisk, "a write is on the disk after %s: each message waits that long", round(took))
	}
	return fine("a write is on the disk after %s", round(took))
}

// Commits judges the writes of a running server by their median and 99th percentile.
func Commits(middle, most time.Duration) Finding {
	if f := Sync(middle); !f.OK || most <= SlowTail {
		return f
	}
	return bad(slowDisk+"; see what else writes to it", "one write in a hundred takes %s or longer until it is on the disk", round(most))
}

// Waits judges the 99th percentile of the time that commands waited for their turn.
func Waits(most time.Duration) Finding {
	if most > SlowTail {
		return bad("find the programs that use the CPU (top), and give the server more CPU time", "one command in a hundred waits %s or longer for its turn", round(most))
	}
	return fine("99 of 100 commands wait at most %s for their turn", round(most))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// lastDays is the time before its expiry at which a certificate should be renewed.
const lastDays = 14 * 24 * time.Hour

// Certificate judges the expiry of the certificate that was found at where.
func Certificate(where string, ends, now time.Time) Finding {
	day := ends.UTC().Format("2 January 2006")
	switch left := ends.Sub(now); {
	case left <= 0:
		return bad("renew it now, and automate the renewal", "%s: the certificate ended on %s, and browsers refuse it", where, day)
	case left < lastDays:
		return bad("renew it, and automate the renewal", "%s: the certificate ends on %s", where, day)
	}
	return fine("%s: the certificate lasts until %s", where, day)
}

// lastBackup is the file in the data folder with the time and place of the last backup.
const lastBackup = "backup.last"

// LastBackup returns the record of the last backup in the data folder, and a finding about it. The
// check fails if the backup is older than most, or if its file has another size than recorded. It
// does not fail if the file is no longer there. The record is nil if no backup was recorded, or if
// the record is unreadable. Then the check fails too.
func LastBackup(data string, most time.Duration, now time.Time) (*Backup, Finding) {
	const remedy = "make a backup each night: systemctl enable --now atelier-backup.timer, or atelier backup FILE"
	text, err := os.ReadFile(filepath.Join(data, lastBackup))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad(remedy, "there has been no backup")
	}
	var b Backup
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return nil, bad(remedy, "the record of the last backup cannot be read: %v", err)
	}
	age := now.Sub(b.At)
	info, err := os.Stat(b.File)
	switch {
	case age > most:
		return &b, bad(remedy, "the last backup is %s old", hours(age))
	case errors.Is(err, fs.ErrNotExist):
		return &b, fine("the last one was made %s ago, and is no longer at %s", hours(age), b.File)
	case err == nil && info.Size() != b.Bytes:
		return &b, bad("make another one", "the last backup, %s, has %d bytes, and had %d when it was made", b.File, info.Size(), b.Bytes)
	}
	return &b, fine("the last one was made %s ago: %s, %.1f MB", hours(age), b.File, float64(b.Bytes)/(1<<20))
}

func hours(d time.Duration) string {
	switch h := d.Hours(); {
	case h < 1:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case h < 48:
		return fmt.Sprintf("%d h", int(h))
	default:
		return fmt.Sprintf("%d days", int(h/24))
	}
}
