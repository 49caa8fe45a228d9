// Package clock provides time and timers to all packages under actors. Each node of a cluster has
// its own Clock. The simulator (cmd/atelier/simulation) runs several nodes in one process, and
// delays, shifts or pauses the time of a single node. Package time cannot do that: the whole
// process shares it. cmd/internal/house forbids package time's clock and timers elsewhere under
// actors.
//
// Two times must not be confused. The time of day (Now) is for people and other machines, and it
// jumps when somebody sets it. Durations and ages are differences of two uptimes (Uptime), which
// changes of the time of day do not affect.
package clock
