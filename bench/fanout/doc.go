// Package fanout holds the scenarios in which some publish and many listen, on
// any server: fanout itself, idle (nobody says anything, and the server is
// weighed), reconnect (all listeners are lost at once and come back) and slow
// (some stop reading).
//
// What differs between servers is a [Door]: an address, how to speak
// (broadcast.Dialect) and who the clients are. [Atelier] makes one of a codelab
// and its attendees, [Generic] one of what the command line says.
//
// The clients live in the workers of a group; this package plans what happens
// when, watches the server, and puts together what the workers found.
package fanout
