package audit

// Fate is the outcome of a write, as far as its client can determine it.
type Fate uint8

const (
	// Unsent means that the write was never sent, or certainly did not arrive.
	Unsent Fate = iota
	// Unanswered means that the write was sent, but that it is unknown whether it was applied.
	Unanswered
	// Acknowledged means that the server has answered 2xx or sent an ack.
	Acknowledged
	// Refused means that the server has answered that the write was not applied.
	Refused
)

// Writes counts the results of one kind of writes.
type Writes struct {
	Acknowledged int `json:"acknowledged"`
	// It is unknown whether Unanswered writes were applied. UnansweredApplied counts those that
	// were found.
	Unanswered        int `json:"unanswered"`
	UnansweredApplied int `json:"unanswered_applied"`
	// Lost writes were acknowledged and are missing.
	Lost int `json:"lost"`
	// Doubled is the number of additional copies of writes that were found more than once, whatever
	// the response was.
	Doubled int `json:"doubled"`
	// Phantom writes were refused, or never sent, but were found.
	Phantom int `json:"phantom"`
}

// Add adds the counts of other writes.
func (w *Writes) Add(more Writes) {
	w.Acknowledged += more.Acknowledged
	w.Unanswered += more.Unanswered
	w.UnansweredApplied += more.UnansweredApplied
	w.Lost += more.Lost
	w.Doubled += more.Doubled
	w.Phantom += more.Phantom
}

// Reconcile compares the fates of writes with the number of times that each was found. A write
// beyond the end of found was not found.
func Reconcile(fates []Fate, found []int) Writes {
	var w Writes
	for i, fate := range fates {
		n := 0
		if i < len(found) {
			n = found[i]
		}
		if n > 1 {
			w.Doubled += n - 1
		}
		switch fate {
		case Acknowledged:
			w.Acknowledged++
			if n == 0 {
				w.Lost++
			}
		case Unanswered:
			w.Unanswered++
			if n > 0 {
				w.UnansweredApplied++
			}
		default:
			if n > 0 {
				w.Phantom++
			}
		}
	}
	return w
}
