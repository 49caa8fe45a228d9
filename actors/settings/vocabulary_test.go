package settings

import (
	"testing"

	"atelier/actors/durable/journaltest"
)

func TestCommandsAndRepliesCanBeEncoded(t *testing.T) { journaltest.Vocabulary(t, Vocabulary) }
