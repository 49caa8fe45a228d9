package server

import "testing"

func TestAddressesAreReadFromTheLog(t *testing.T) {
	for name, lines := range map[string][]string{
		"text": {
			`time=2026-01-02T03:04:05.000Z level=INFO msg="internal listening" addr=127.0.0.1:41001`,
			`time=2026-01-02T03:04:05.000Z level=INFO msg=listening component=http addr=127.0.0.1:41000 url=http://127.0.0.1:41000`,
		},
		"json": {
			`{"level":"INFO","msg":"listening","addr":"127.0.0.1:41000"}`,
			`{"level":"INFO","msg":"internal listening","addr":"127.0.0.1:41001","tls":false}`,
		},
		"noise": {
			`opened data=/tmp/x addr=nonsense listening`,
			`msg="listening" addr="127.0.0.1:41000"`,
			``,
			`msg="internal listening" addr=127.0.0.1:41001`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a addresses
			for i, line := range lines {
				if known := a.read(line); known != (i == len(lines)-1) {
					t.Errorf("after line %d, both addresses are known: %v", i, known)
				}
			}
			if a.public != "127.0.0.1:41000" || a.internal != "127.0.0.1:41001" {
				t.Errorf("the addresses are %+v", a)
			}
		})
	}
}
