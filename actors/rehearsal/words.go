package rehearsal

// names contains more names than a rehearsal has people, because some names can be taken.
var names = []string{
	"Amara Okafor", "Jonas Weber", "Yuki Tanaka", "Lucía Moreno", "Priya Nair", "Mateusz Nowak", "Chloé Dubois", "Omar Haddad",
	"Ingrid Solberg", "Tomás Silva", "Mei Lin", "Kofi Mensah", "Elena Rossi", "Daan de Vries", "Sofia Lindqvist", "Min-jun Kim",
	"Fatima Zahra", "Luca Bianchi", "Anna Kowalska", "Ravi Patel", "Nora Keller", "Diego Herrera", "Hana Sato", "Youssef Amrani",
	"Emma Janssen", "Oleksiy Bondar", "Zoë Papadaki", "Arjun Mehta", "Maja Horvat", "Samuel Eriksson", "Leila Rahimi", "Pedro Costa",
	"Ji-woo Park", "Clara Hoffmann", "Nikolai Petrov", "Aisha Bello", "Victor Laurent", "Thandi Nkosi", "Felix Brandt", "Camila Rojas",
	"Ewa Zielińska", "Hugo Martin", "Sana Malik", "Piotr Wójcik", "Julia Schneider", "Ahmed Mansour", "Ines Carvalho", "Wei Zhang",
	"Greta Olsen", "Bruno Almeida", "Saoirse Byrne", "Ivan Marković", "Naomi Cohen", "Paul Fischer", "Rosa Ferrari", "Tariq Aziz",
	"Lena Vogel", "Marco Conti", "Yara Khoury", "Erik Dahl", "Ana Popescu", "Kenji Mori", "Marta Vidal", "Sven Bakker",
	"Dilan Kaya", "Olivia Hughes", "Rafael Santos", "Alma Berg", "Noah Müller", "Zainab Diallo", "Theo Lambert", "Katya Morozova",
	"Gabriel Ortiz", "Freya Nielsen", "Hassan Ali", "Beatriz Lopes", "Milan Novák", "Sara Lund", "Isaac Owusu", "Viola Meyer",
}

var chats = []string{
	"Hi everyone!", "This step is nice.", "Works here.", "Did anybody else see a warning there?", "Same for me, a reload helped.",
	"Where do I find the second file?", "Found it, thanks.", "Mine is done.", "I like the example.", "Which version do you use?",
	"The latest one works for me.", "I was on the wrong branch. All fine now.", "Could we have two more minutes?", "Ready for the next one.",
	"Thanks, that made it clear.", "My laptop is slow today.", "Great explanation.", "Can you repeat the last part, please?",
}

var troubles = []string{
	"The command is not found on my machine.", "I get an error after saving.", "My page stays empty.", "I lost the thread at this step.",
	"The result looks different here.", "Permission denied. What now?", "", "I am not sure where this goes.",
}

var questions = []string{
	"Does this work on Windows as well?", "How would you test this?", "What happens when two people do it at the same time?",
	"Is there a shorter way to write that?", "Can I use this in a commercial project?", "Where can I read more about it?",
	"How do you do this in a larger team?", "What would you do differently today?",
}

var comments = []string{
	"", "", "Clear and well paced.", "I would have liked more time for the last step.", "Good examples.", "Thank you!", "A bit fast for me.",
}

var answers = []string{
	"It keeps the parts apart, so each can change alone.", "Because the order matters.", "I would try it with a small example first.", "I am not sure.",
}

var words = []string{"curious", "fun", "clear", "fast", "new", "useful", "tricky", "calm", "hungry", "surprising"}

var texts = []string{
	"More exercises, please.", "I will try this at work tomorrow.", "The part about errors was the best.", "Slower in the middle.", "All good.",
}
