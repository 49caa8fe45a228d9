package people

import (
	"testing"

	"atelier/actors/durable/journaltest"
)

func TestCommandsAndRepliesTravel(t *testing.T) { journaltest.Vocabulary(t, Vocabulary) }
