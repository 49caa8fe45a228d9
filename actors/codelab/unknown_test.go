package codelab

import (
	"errors"
	"testing"

	"atelier/actors/durable"
)

// An event of a newer program must not be skipped. In an earlier version, it was skipped, so the
// state and the next stored snapshot silently lacked its effect.
func TestAnEventOfANewerProgramIsAnError(t *testing.T) {
	record := []byte{8, 1, 0xfa, 0x3e, 2, 8, 1} // at = 1, and a body with the number 1007
	if _, err := ParseEvent(record); !errors.Is(err, durable.ErrUnknownEvent) {
		t.Errorf("parsing an unknown event returned %v", err)
	}
}
