package room

// Facilitator is the id that stands for all facilitators in Frame.People.
const Facilitator = "facilitator"

// Audience is the audience of a frame.
type Audience uint8

const (
	// Everyone contains every session in the room.
	Everyone Audience = iota
	// Facilitators contains every facilitator's session.
	Facilitators
	// Attendees contains every session that is not a facilitator's.
	Attendees
	// People contains the sessions of the persons listed in Frame.People.
	People
	// FacilitatorsAndPeople contains the sessions of facilitators, and of the persons listed in
	// Frame.People.
	FacilitatorsAndPeople
)

// Frame is one encoded message and its audience. It is a value; Payload is shared and must not be
// modified after the frame was published.
type Frame struct {
	// Seq is the position of the frame in the codelab's stream, or 0 for transients.
	Seq uint64
	// Origin is the session that caused the frame and therefore does not receive it, or 0.
	// Session ids are valid only in their process, so Restore drops Origin, and a replay reaches
	// every session of the person.
	Origin uint64
	// People are the ids of the persons in the frame; "" is unused. They are recipients if the
	// audience includes people.
	People [2]string
	// Item is the id of the item in the frame, if it can be deleted separately. A frame is stored
	// for replay only while its people and its item exist.
	Item string
	// Payload is the message for a WebSocket frame or an SSE event.
	Payload []byte
	// Audience is the audience of the frame.
	Audience Audience
}

// Reaches reports whether the frame is for a session of this person. With an empty person, it
// reports whether every member of the class, facilitators or attendees, receives the frame.
func (f *Frame) Reaches(person string, facilitator bool) bool {
	switch f.Audience {
	case Everyone:
		return true
	case Facilitators:
		return facilitator
	case Attendees:
		return !facilitator
	case FacilitatorsAndPeople:
		return facilitator || f.names(person)
	default:
		return f.names(person) || facilitator && f.names(Facilitator)
	}
}

// Singles reports whether the frame can reach some sessions of a class, facilitators or attendees,
// but not others of the same class.
func (f *Frame) Singles() bool {
	return f.Origin != 0 || f.Audience >= People
}

func (f *Frame) names(person string) bool {
	return person != "" && (f.People[0] == person || f.People[1] == person)
}
