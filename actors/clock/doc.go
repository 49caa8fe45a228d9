// Package clock is where everything under actors takes its time and its timers
// from. Each node of a cluster has one Clock; package time would be one for the
// whole process, so that the simulator (cmd/atelier/simulation), which runs several
// nodes in one process, could not let one of them be late, jump or stand still.
// cmd/internal/house forbids package time's clock and timers elsewhere under actors.
//
// Two times must not be confused. The time of day (Now) is what people and other
// machines understand, and it jumps when somebody sets it. How long something took
// or how old it is follows from two uptimes (Uptime), whatever the time of day does
// in between.
package clock
