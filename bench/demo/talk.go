package demo

import "math/rand/v2"

// remarks are what people say in the chat, by step from 0; steps beyond have
// those of the last.
var remarks = [][]string{
	{"Hello everybody!", "Does it matter which version of Go I have?", "Set up and ready.", "The module name can be anything, right?", "My terminal had to be opened again, then it worked."},
	{"It says hello!", "8081 was taken here, 8082 works.", "What does {$} stand for again?", "405 for POST, as promised.", "Nice, no framework needed."},
	{"Why not a sync.Map?", "The panic with the nil map got me too.", "Reading without counting: I used a second method.", "Do I have to unlock with defer here?", "The table helped, thanks.", "json.NewEncoder adds a newline, by the way."},
	{"The race detector is impressive.", "I took the lock out and it failed at once.", "go test -race takes a while the first time.", "Ah, httptest needs SetPathValue.", "101, it works!"},
	{"The answer still came after Ctrl-C.", "Where do I import signal from?", "os/signal, found it.", "Done with the last step!", "Can I use this with TLS too?"},
}

// remark draws a line for a step.
func remark(rng *rand.Rand, step int) string {
	lines := remarks[min(step, len(remarks)-1)]
	return lines[rng.IntN(len(lines))]
}

// troubles are what people ask for help with, by step like remarks.
var troubles = []string{
	"go: command not found, also in a new terminal",
	"address already in use, and I do not know by what",
	"panic: assignment to entry in nil map",
	"the test says 404 instead of 101 visits",
	"it does not stop at Ctrl-C any more",
}

func trouble(step int) string { return troubles[min(step, len(troubles)-1)] }

// Answers to others.
var (
	relief   = []string{"Solved, thank you!", "That was it. Thanks!", "Works now, thanks a lot."}
	replies  = []string{"Thank you!", "Ah, I see. I will try that.", "Yes, that is where I am.", "One moment, I am looking."}
	nods     = []string{"Thanks!", "OK!", "Good to know.", "Fine here."}
	farewell = []string{"Done. That was fun!", "All through, thanks for the workshop.", "Certificate in hand!"}
)

func pick(rng *rand.Rand, lines []string) string { return lines[rng.IntN(len(lines))] }
