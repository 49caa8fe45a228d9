"""Runs a small workshop with the client that openapi-python-client generates from
/api/openapi.json. It reads ATELIER_URL, ATELIER_ADMIN and ATELIER_PASSWORD."""

import io
import json
import os
import zipfile

from atelier_client import AuthenticatedClient, Client
from atelier_client.api.attendees import complete, register_attendee
from atelier_client.api.codelabs import create_codelab, export_all, get_codelab, replace_steps
from atelier_client.api.help_ import ask_help, list_help
from atelier_client.api.live import post_message
from atelier_client.api.quizzes import replace_quizzes, submit_quiz
from atelier_client.api.session import login
from atelier_client.api.submissions import get_submission_file, submit_file
from atelier_client.api.tokens import create_token
from atelier_client.models import (
    Ack,
    Attendee,
    ClientMessage,
    ClientMessageType,
    Codelab,
    CodelabCreate,
    HelpAsk,
    HelpAsked,
    Login,
    NewToken,
    QuizAnswer,
    QuizInput,
    QuizInputQuizType,
    QuizResult,
    QuizSubmit,
    Register,
    Status,
    StepInput,
    Steps,
    Submission,
    SubmitFileBody,
    TokenCreate,
    Welcome,
)
from atelier_client.types import File

API = os.environ["ATELIER_URL"] + "/api"


def expect(kind, answer):
    """Return the answer if it is of this kind; otherwise raise an error."""
    if not isinstance(answer, kind):
        raise SystemExit(f"want {kind.__name__}, got {answer!r}")
    return answer


def csrf(client):
    """Return the CSRF token, which each write of a session carries."""
    return client.get_httpx_client().cookies["svc_csrf"]


# A facilitator logs in, and the client keeps the cookies. With the session, the facilitator creates
# an API token, which needs no CSRF token.
browser = Client(base_url=API)
account = Login(admin_id=os.environ["ATELIER_ADMIN"], admin_pw=os.environ["ATELIER_PASSWORD"])
expect(Status, login.sync(client=browser, body=account))
token = expect(
    NewToken, create_token.sync(client=browser, body=TokenCreate(name="Python"), x_csrf_token=csrf(browser))
)
lead = AuthenticatedClient(base_url=API, token=token.token)

# The facilitator creates a codelab with two steps and a question.
lab = expect(Codelab, create_codelab.sync(client=lead, body=CodelabCreate(title="Python", quiz_enabled=True))).id
steps = Steps(
    steps=[
        StepInput(title="Look around", content_markdown="Welcome!"),
        StepInput(title="Try it", content_markdown="Your turn."),
    ]
)
expect(Status, replace_steps.sync(lab, client=lead, body=steps))
question = QuizInput(
    question="Six times seven?",
    quiz_type=QuizInputQuizType.MULTIPLE_CHOICE,
    options=["41", "42"],
    correct_answer=1,
)
[question] = expect(list, replace_quizzes.sync(lab, client=lead, body=[question]))

# An attendee registers and reads the codelab.
ann = Client(base_url=API)
me = expect(Attendee, register_attendee.sync(lab, client=ann, body=Register(name="Ann", code="1234")))
codelab, read = expect(list, get_codelab.sync(lab, client=ann))
assert expect(Codelab, codelab).title == "Python" and [s.title for s in read] == ["Look around", "Try it"]

# The attendee sends a chat message. If its answer is lost, a client sends the message again with
# the same ref: it is stored once, and both acks are the same. The stream replays messages after the
# position of the welcome.
hello = ClientMessage(type_=ClientMessageType.HELLO)
welcome = expect(Welcome, post_message.sync(lab, client=ann, body=hello, x_csrf_token=csrf(ann)))
chat = ClientMessage(type_=ClientMessageType.CHAT, message="It works!", ref="chat")
first, again = (expect(Ack, post_message.sync(lab, client=ann, body=chat, x_csrf_token=csrf(ann))) for _ in range(2))
assert first.seq == again.seq, (first, again)


def resume(client, epoch, since):
    """Yield the stored messages after a position, and then each new message."""
    place = {"epoch": epoch, "since": since}
    with client.get_httpx_client().stream("GET", f"/codelabs/{lab}/events", params=place) as events:
        for line in events.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


missed = next(m for m in resume(ann, welcome.epoch, welcome.head) if m.get("type") == "chat")
assert missed["seq"] == first.seq and missed["message"] == "It works!", missed

# The attendee moves to the second step, asks for help and answers the question.
move = ClientMessage(type_=ClientMessageType.STEP_PROGRESS, step_number=2, ref="move")
assert expect(Ack, post_message.sync(lab, client=ann, body=move, x_csrf_token=csrf(ann))).ref == "move"
plea = HelpAsk(step_number=2, message="It does not start.")
expect(HelpAsked, ask_help.sync(lab, client=ann, body=plea, x_csrf_token=csrf(ann)))
[waiting] = expect(list, list_help.sync(lab, client=lead))
assert waiting.attendee_id == me.id and waiting.message == plea.message
right = QuizSubmit(submissions=[QuizAnswer(quiz_id=question.id, answer="1")])
assert expect(QuizResult, submit_quiz.sync(lab, client=ann, body=right, x_csrf_token=csrf(ann))).passed

# The attendee submits a file. Attendee and facilitator read the same bytes.
content = bytes(range(256)) + b"\r\n--\xff\xfe\x00" + os.urandom(4096)
body = SubmitFileBody(file=File(payload=io.BytesIO(content), file_name="work.bin"))
work = expect(Submission, submit_file.sync(lab, me.id, client=ann, body=body, x_csrf_token=csrf(ann)))
assert work.file_size == len(content), work.file_size
for client in (ann, lead):
    stored = expect(File, get_submission_file.sync(lab, me.id, work.id, client=client))
    assert stored.payload.read() == content, "the file came back changed"
expect(Status, complete.sync(lab, client=ann, x_csrf_token=csrf(ann)))

# The facilitator downloads everything as a ZIP.
archive = expect(File, export_all.sync(lab, client=lead))
with zipfile.ZipFile(archive.payload) as z:
    assert z.testzip() is None and "index.html" in z.namelist(), z.namelist()
    assert content in [z.read(name) for name in z.namelist()], "the file is not in the archive"
print("held")
