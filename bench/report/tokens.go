package report

import "fmt"

// audit describes whether each token returned its credential exactly once.
func (t *Tokens) audit() string {
	wrong := fmt.Sprintf("; %s", counted(int64(t.Wrong), "wrong credential"))
	raced := counted(int64(t.Raced), "token") + " used by two callers at once"
	switch {
	case t.Raced == 0:
		return "no token was used by two callers at once" + wrong
	case t.OneWinner == t.Raced:
		return raced + ", each with exactly one winner" + wrong
	}
	unknown := t.Raced - t.OneWinner - t.TwoWinners - t.NoWinner
	return fmt.Sprintf("%s: %s with exactly one winner, %d with two, %d with none, %d unknown since an answer is missing%s",
		raced, grouped(int64(t.OneWinner)), t.TwoWinners, t.NoWinner, unknown, wrong)
}

// pairs states how many pairs were timed, and why the others were not.
func (t *Tokens) pairs() string {
	return fmt.Sprintf("%s timed of %s that were due%s%s", grouped(int64(t.Timed)), grouped(int64(t.Begun)),
		unless(t.Contested == 0, fmt.Sprintf("; %s used by two callers, which is not timed", grouped(int64(t.Contested)))),
		unless(t.Begun == t.Timed+t.Contested, fmt.Sprintf("; %s failed", grouped(int64(t.Begun-t.Timed-t.Contested)))))
}
