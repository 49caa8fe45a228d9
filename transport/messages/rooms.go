package messages

import (
	"atelier/actors/codelab"
	"atelier/actors/room"
	"atelier/transport/live"
	"atelier/transport/rfc6455"
)

// Rooms implements the callbacks of codelab.Config for the connections of a hub. It needs only the
// hub, so that codelabs can be loaded before a Gateway exists.
type Rooms struct{ Hub *live.Hub }

// startsOver is the close reason for connections whose codelab this server has unloaded.
const startsOver = "this server starts over; connect again"

// Forgotten closes the sessions in a room whose codelab this server has unloaded.
func (t Rooms) Forgotten(r *room.Room) { t.Hub.CloseRoom(r, rfc6455.CloseRestart, startsOver) }

// Removed ends the connections of an attendee who was removed or whose PIN was reset. Connections
// opened with the new PIN stay. If attendee is "", the codelab was deleted and all connections end.
func (t Rooms) Removed(r *room.Room, attendee string) {
	if attendee == "" {
		t.Hub.CloseRoom(r, rfc6455.ClosePolicy, "codelab deleted")
		return
	}
	t.Hub.EachSession(r, attendee, func(s *live.Session) {
		p := s.Data.(*peer)
		switch v := p.lab.View(); {
		case v.Attendee(attendee) == nil:
			s.Close(rfc6455.ClosePolicy, "removed from the codelab")
		case !v.Stands(attendee, p.who.Generation):
			s.Close(rfc6455.ClosePolicy, "the code was reset")
		}
	})
}

// Announce notifies this node's facilitators that a person has connected to another node, or has no
// connection left on any node.
func (t Rooms) Announce(w codelab.Codelab, person string, arrived bool) {
	kind := "attendee_left"
	if arrived {
		kind = "attendee_joined"
	}
	if person != codelab.FacilitatorID {
		announce(w, kind, person, "")
	}
}

// Signal sends another node's message to this node's sessions of a person. If person is "", it
// sends the message to all facilitators.
func (t Rooms) Signal(w codelab.Codelab, person string, payload []byte) {
	if person == "" {
		t.Hub.SendFacilitators(w.Room, payload)
		return
	}
	t.Hub.SendPerson(w.Room, person, payload)
}
