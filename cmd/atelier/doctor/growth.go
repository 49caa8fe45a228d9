package doctor

import "fmt"

// Growth contains the needs of a server for a number of people. Sizes are in bytes. The values were
// measured with atelier-bench workshop. There, each person goes to another step every 20 s, and the
// room sends ten chat messages per second. Resident memory was at most 96 MiB for 100 people, 113
// for 1,000 and 220 for 10,000. A thousand people write 17 kB/s, half a gigabyte in eight hours.
// Memory includes the 352 MiB of heap that many concurrent writes can take (see keepMemory in
// package service). The disk space for a day is at least four times the measured amount, to allow
// for a busier room and compaction.
type Growth struct {
	People, Cores int
	// Memory is the memory of the server alone.
	Memory uint64
	// Written is the disk space for one day's messages, answers and progress.
	Written uint64
}

// growths contains the needs for up to the given number of people. For more people than in the last
// entry, GrowthOf multiplies this entry by the quotient, rounded up.
var growths = []Growth{
	{People: 100, Cores: 1, Memory: 512 << 20, Written: 1 << 30},
	{People: 1_000, Cores: 1, Memory: 512 << 20, Written: 2 << 30},
	{People: 10_000, Cores: 2, Memory: 1 << 30, Written: 20 << 30},
}

// GrowthOf returns the needs for a number of people.
func GrowthOf(people int) Growth {
	for _, g := range growths {
		if people <= g.People {
			g.People = people
			return g
		}
	}
	g := growths[len(growths)-1]
	times := uint64((people + g.People - 1) / g.People)
	return Growth{People: people, Cores: g.Cores * int(times), Memory: g.Memory * times, Written: g.Written * times}
}

// eachHandsIn is the maximum size of the files that one person submits per day, in bytes.
const eachHandsIn = 10 << 20

// HandedIn is the disk space for one day's submitted files, in bytes, if a workshop asks for files.
func (g Growth) HandedIn() uint64 { return uint64(g.People) * eachHandsIn }

// A server has one open socket per person, and for some people a second connection for pages and
// files.
const (
	perPerson      = 2
	ownDescriptors = 1000
)

// Descriptors is the number of files that the server must be able to have open.
func (g Growth) Descriptors() uint64 { return uint64(perPerson*g.People + ownDescriptors) }

// row returns the line for this Growth in the table of CAPACITY.md.
func (g Growth) row() string {
	return fmt.Sprintf("| %s | %d | %s | %.0f GB | %.0f GB | %s |\n",
		thousands(uint64(g.People)), g.Cores, binary(g.Memory), gb(g.Written), gb(g.HandedIn()), thousands(g.Descriptors()))
}

// thousands formats a number with commas.
func thousands(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// binary formats a memory size in the units in which memory is sold.
func binary(bytes uint64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d GiB", bytes>>30)
}
