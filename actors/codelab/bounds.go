package codelab

import "atelier/actors/markdown"

// Bounds contains the limits that affect a codelab's clients. Descriptions of the API read the
// limits from here, because a copied limit would become outdated.
var Bounds = struct {
	// Maxima per codelab.
	Attendees, Threads, ThreadMessages, Chat, SettledHelp, Materials, Quizzes, Steps, Mentions, Heads int
	// Maxima per person: submissions, and messages with a ref within ten minutes.
	Submissions, Refs int
	// Options of a question of the quiz.
	QuizOptions int
	// Stored AI conversations, per person and per codelab.
	PersonConversations, Conversations int
	// Maximum numbers of individual notices to clients. Gone is for the messages and threads of a
	// removed person, PulseNotices for pulses that end because their steps are removed.
	Gone, PulseNotices int
	// Polls and questions, and open questions per person.
	Polls, PollOptions, PollBoxes, Questions, OpenAsked int
	// MinSeconds and MaxSeconds bound the duration of a poll or a timer. VoteWords bounds the
	// words of a vote.
	MinSeconds, MaxSeconds, VoteWords int
	// Checks declared by the steps of a codelab.
	Checks int
	// Tasks per step that can be ticked.
	Tasks int
	// Recipients of a message to an audience.
	Directs int
	// Requests for help answered by one message.
	Answered int
	// Texts, in code points.
	Title, Description, Author, Markdown, Name, Place, Message, HelpMessage, Reason, Answer, AIQuestion, AIAnswer, URL int
	QuizQuestion, QuizOption, PollQuestion, PollOption, VoteWord, VoteText, QuestionText, TimerLabel, CheckNote        int
}{
	Attendees: maxAttendees, Threads: maxThreads, ThreadMessages: maxThreadMessages, Chat: maxChat, SettledHelp: maxSettledHelp,
	Materials: maxMaterials, Quizzes: maxQuizzes, Steps: maxSteps, Mentions: maxMentions, Heads: maxHeads,
	Submissions: maxSubmissions, Refs: refsPerPerson,
	PersonConversations: maxPersonConversations, Conversations: maxConversations,
	Gone: maxGone, PulseNotices: maxPulseNotices, Directs: maxDirects, Answered: maxAnswered,
	Title: maxTitle, Description: maxDescription, Author: maxAuthor, Markdown: maxMarkdown, Name: maxName, Place: maxPlace,
	Polls: maxPolls, PollOptions: maxPollOptions, PollBoxes: maxPollBoxes, Questions: maxQuestions, OpenAsked: maxOpenAsked,
	MinSeconds: minPollSeconds, MaxSeconds: maxPollSeconds, VoteWords: maxVoteWords,
	QuizOptions: maxQuizOptions, QuizQuestion: maxQuizQuestion, QuizOption: maxQuizOption,
	PollQuestion: maxPollQuestion, PollOption: maxPollOption, VoteWord: maxVoteWord, VoteText: maxVoteText,
	QuestionText: maxQuestionText, TimerLabel: maxTimerLabel, Checks: MaxChecks, CheckNote: maxCheckNote, Tasks: markdown.MaxTasks,
	Message: maxMessage, HelpMessage: maxHelpMessage, Reason: maxReason,
	Answer: maxAnswer, AIQuestion: maxAIQuestion, AIAnswer: maxAIAnswer, URL: maxURL,
}
