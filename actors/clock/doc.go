// Package clock provides time and timers to all packages under actors. Each node of a cluster has
// one Clock. The simulator (cmd/atelier/simulation) runs several nodes in one process. With package
// time, which the whole process shares, it could not delay, shift or pause the time of a single
// node. cmd/internal/house forbids package time's clock and timers elsewhere under actors.
//
// Two times must not be confused. The time of day (Now) is for people and other machines, and it
// jumps when somebody sets it. Durations and ages are differences of two uptimes (Uptime),
// regardless of changes to the time of day in between.
package clock
