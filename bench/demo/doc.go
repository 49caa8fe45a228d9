// Package demo plays forty people who work through a small codelab at a human
// pace, for somebody who wants to see a lively workshop. It measures nothing.
//
// Everybody takes about as long for a step as the codelab says, times a pace of
// their own. They talk, say how they are doing, get stuck and ask for help or
// do not, lose their network now and then, answer people who write to them, and
// in the end the questions, vote when a poll is open, and ask the room. When a facilitator solves somebody's request, that
// person goes on; when nobody does, they find out by themselves in some
// minutes.
//
// A person is one goroutine, which owns all that is the person's; its
// connection is read by a second one, which ends with it. What a seed decides is
// the plan, not the order in which forty people do things.
package demo
