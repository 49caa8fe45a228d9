package audit

// Fate is a client's knowledge of a write it made.
type Fate uint8

const (
	// Unsent: it never left, or certainly did not arrive.
	Unsent Fate = iota
	// Unanswered: it was sent, and nobody knows whether it was applied.
	Unanswered
	// Acknowledged: the server has answered 2xx or sent an ack.
	Acknowledged
	// Refused: the server has answered that it was not applied.
	Refused
)

// Writes counts the results of one kind of writes.
type Writes struct {
	Acknowledged int `json:"acknowledged"`
	// Unanswered writes may be there or not; UnansweredApplied of them are.
	Unanswered        int `json:"unanswered"`
	UnansweredApplied int `json:"unanswered_applied"`
	// Lost were acknowledged and are not there.
	Lost int `json:"lost"`
	// Doubled are there more than once, whatever was answered.
	Doubled int `json:"doubled"`
	// Phantom were refused, or never sent, and are there all the same.
	Phantom int `json:"phantom"`
}

// Reconcile compares the fates of writes with how often each was found.
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
