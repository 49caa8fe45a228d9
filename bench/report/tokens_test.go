package report

import (
	"bytes"
	"strings"
	"testing"
)

// A report contains the audit of tokens, and why fewer pairs are timed than planned.
func TestTheReportContainsTheAuditOfTokens(t *testing.T) {
	for want, tokens := range map[string]Tokens{
		"audit 80 tokens used by two callers at once, each with exactly one winner; 0 wrong credentials pairs 1,584 timed of 1,600 that were due; 16 used by two callers, which is not timed": {Begun: 1600, Timed: 1584, Contested: 16, Raced: 80, OneWinner: 80},
		"audit no token was used by two callers at once; 1 wrong credential pairs 5 timed of 5 that were due":                                                                                 {Begun: 5, Timed: 5, Wrong: 1},
		"audit 9 tokens used by two callers at once: 4 with exactly one winner, 3 with two, 1 with none, 1 unknown since an answer is missing; 0 wrong credentials":                           {Raced: 9, OneWinner: 4, TwoWinners: 3, NoWinner: 1},
		"pairs 5 timed of 9 that were due; 1 used by two callers, which is not timed; 3 failed":                                                                                               {Begun: 9, Timed: 5, Contested: 1},
	} {
		r := &Result{Scenario: "tokens", Audit: Audit{Tokens: &tokens}}
		var b bytes.Buffer
		if err := r.Text(&b, Style{}); err != nil || !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}
