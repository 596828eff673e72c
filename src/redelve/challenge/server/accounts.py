"""Accounts: registering, logging in and out, tokens, and links that work once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from redelve.challenge.server import rates
from redelve.challenge.server.audit import SERVER, Actor, note
from redelve.challenge.server.database import Database
from redelve.challenge.server.database_tables import (
    ORGANISER,
    PARTICIPANT,
    AuditNote,
    Invitation,
    LoginSession,
    Token,
    User,
)
from redelve.challenge.server.refusals import Refusal, not_found, wrong_field
from redelve.challenge.server.secrets_kept import Passwords, kept_hash, new_secret, new_token
from redelve.challenge.server.settings import Settings
from redelve.challenge.server.texts import comparable, name_of, one_line, printable

LEAST_PASSWORD, MOST_PASSWORD = 10, 200
TOKENS_HELD = 20
RESET, LOGIN = "reset", "login"
RESERVED = frozenset(
    map(comparable, ("server", "nobody", "organiser", "organizer", "admin", "administrator"))
)
"""Names under which a participant would be taken for somebody else, in the audit log or on a board."""
WRONG_LOGIN = Refusal(401, "wrong_login", "The name or the password is wrong.")


@dataclass(frozen=True)
class Accounts:
    """The accounts of a server."""

    database: Database
    settings: Settings
    passwords: Passwords

    # Registering and logging in

    def register(self, now: datetime, address: str, name: str, password: str) -> User:
        """Make an account for a participant."""
        with self.database.writing() as session:
            by_place = f"register:{rates.holder(address)}"
            rates.count(session, by_place, self.settings.rates.registrations_by_address, now)
        checked = name_of(name)
        if comparable(checked) in RESERVED:
            raise _taken(checked)
        kept = self.passwords.hash(_password(password, checked))
        user = User(
            name=checked,
            name_key=comparable(checked),
            password_hash=kept,
            role=PARTICIPANT,
            created_at=now,
        )
        try:
            with self.database.writing() as session:
                session.add(user)
                session.flush()
                note(session, now, Actor(user, address), "register", user.name)
        except IntegrityError:
            raise _taken(checked) from None
        return user

    def login(self, now: datetime, address: str, name: str, password: str) -> tuple[User, str]:
        """The account and the id of a new session; attempts are counted before anything is compared.

        Where the account has logged in before, attempts from elsewhere do not keep it out.
        """
        key, limits, place = printable(comparable(name))[:320], self.settings.rates, rates.holder(address)
        by_both = f"login:{place}:{key}"
        with self.database.reading() as session:
            user = session.scalar(select(User).where(User.name_key == key))
            is_usual = _logged_in_from(session, user.id if user else 0, address)
        with self.database.writing() as session:
            rates.count(session, f"login:{place}", limits.login_by_address, now)
            if not is_usual:
                rates.count(session, f"login-name:{key}", limits.login_by_name, now)
            rates.count(session, by_both, limits.login_by_name_and_address, now)
        if not self.passwords.fits(password[:MOST_PASSWORD], user.password_hash if user else None):
            with self.database.writing() as session:
                tried = user.name if user else "an unknown name"  # it may be a password in the wrong field
                note(session, now, Actor(None, address), "login refused", tried)
            raise WRONG_LOGIN
        assert user is not None
        with self.database.writing() as session:
            rates.forgive(session, by_both, limits.login_by_name_and_address)
            rates.take_back(session, f"login:{place}", limits.login_by_address, now)  # it was no guess
            if self.passwords.is_outdated(user.password_hash):
                again = self.passwords.hash(password)
                session.execute(update(User).where(User.id == user.id).values(password_hash=again))
            note(session, now, Actor(user, address), LOGIN, user.name)
            return user, self._open(session, now, user)

    def admit(self, now: datetime, address: str, user: User) -> str:
        """The id of a new session for somebody who has just registered or followed a link."""
        with self.database.writing() as session:
            note(session, now, Actor(user, address), LOGIN, user.name)
            return self._open(session, now, user)

    def _open(self, session: Session, now: datetime, user: User) -> str:
        secret = new_secret()
        until = now + timedelta(seconds=self.settings.session_seconds)
        session.execute(delete(LoginSession).where(LoginSession.expires_at < now))
        opened = LoginSession(id_hash=kept_hash(secret), user_id=user.id, created_at=now, expires_at=until)
        session.add(opened)
        return secret

    def session_user(self, now: datetime, secret: str | None) -> User | None:
        """Whose session the cookie names."""
        if not secret:
            return None
        with self.database.reading() as session:
            found = session.get(LoginSession, kept_hash(secret))
            return found.user if found is not None and found.expires_at > now else None

    def logout(self, now: datetime, address: str, secret: str | None) -> None:
        """End the session."""
        user = self.session_user(now, secret)
        if secret and user is not None:
            with self.database.writing() as session:
                session.execute(delete(LoginSession).where(LoginSession.id_hash == kept_hash(secret)))
                note(session, now, Actor(user, address), "logout", user.name)

    # Tokens

    def make_token(self, now: datetime, actor: Actor, label: str) -> tuple[Token, str]:
        """A new token and its secret, which is shown this once."""
        user = _known(actor)
        secret = new_token()
        token = Token(
            user_id=user.id,
            label=one_line(label, "label", most=80) or "token",
            secret_hash=kept_hash(secret),
            created_at=now,
        )
        with self.database.writing() as session:
            rates.count(session, f"actions:{user.id}", self.settings.rates.actions, now)
            if len(_tokens(session, user)) >= TOKENS_HELD:
                raise Refusal(409, "too_many_tokens", f"You have {TOKENS_HELD} tokens: revoke one first.")
            session.add(token)
            session.flush()
            note(session, now, actor, "token made", f"token {token.id}")
        return token, secret

    def tokens(self, user: User) -> list[Token]:
        """The tokens of an account that still work."""
        with self.database.reading() as session:
            return _tokens(session, user)

    def revoke_token(self, now: datetime, actor: Actor, token_id: int) -> None:
        """Make a token of one's own useless."""
        user = _known(actor)
        with self.database.writing() as session:
            token = session.get(Token, token_id)
            if token is None or token.user_id != user.id or token.revoked_at is not None:
                raise not_found("such token")
            token.revoked_at = now
            note(session, now, actor, "token revoked", f"token {token.id}")

    def token_user(self, secret: str) -> User | None:
        """Whose token it is."""
        with self.database.reading() as session:
            query = select(Token).where(Token.secret_hash == kept_hash(secret), Token.revoked_at.is_(None))
            token = session.scalar(query)
            return token.user if token is not None else None

    # Links that work once

    def has_organiser(self) -> bool:
        """Whether anybody can run the challenge."""
        with self.database.reading() as session:
            query = select(func.count()).select_from(User).where(User.role == ORGANISER)
            return bool(session.scalar(query))

    def invite(self, now: datetime, kind: str, user_id: int | None = None, actor: Actor = SERVER) -> str:
        """The secret of a link that works once; earlier links for the same thing stop working."""
        secret = new_secret()
        until = now + timedelta(seconds=self.settings.invitation_seconds)
        made = Invitation(
            token_hash=kept_hash(secret), kind=kind, user_id=user_id, created_at=now, expires_at=until
        )
        with self.database.writing() as session:
            same = (Invitation.kind == kind, Invitation.user_id.is_not_distinct_from(user_id))
            session.execute(delete(Invitation).where(*same, Invitation.used_at.is_(None)))
            session.add(made)
            note(session, now, actor, f"link made: {kind}", "" if user_id is None else f"account {user_id}")
        return secret

    def invitation(self, now: datetime, secret: str) -> Invitation:
        """The link, if it still works."""
        with self.database.reading() as session:
            found = session.scalar(select(Invitation).where(Invitation.token_hash == kept_hash(secret)))
        if found is None or found.used_at is not None or found.expires_at <= now:
            raise Refusal(404, "link_used", "This link is wrong, was used before, or is out of date.")
        return found

    def use_invitation(self, now: datetime, address: str, secret: str, name: str, password: str) -> User:
        """Become an organiser, or choose a new password, by a link; the account's sessions and tokens end."""
        found = self.invitation(now, secret)
        with self.database.writing() as session:
            rates.count(session, f"link:{rates.holder(address)}", self.settings.rates.links_by_address, now)
        known = self._invited(found)
        checked = known.name if known is not None else name_of(name)
        kept = self.passwords.hash(_password(password, checked))
        try:
            with self.database.writing() as session:
                return _use(session, now, address, found.id, (checked, kept))
        except IntegrityError:
            raise _taken(checked) from None

    def _invited(self, found: Invitation) -> User | None:
        with self.database.reading() as session:
            return session.get(User, found.user_id) if found.user_id is not None else None


def _use(session: Session, now: datetime, address: str, link_id: int, chosen: tuple[str, str]) -> User:
    open_link = update(Invitation).where(Invitation.id == link_id, Invitation.used_at.is_(None))
    if session.execute(open_link.values(used_at=now)).rowcount != 1:  # type: ignore[attr-defined]
        raise Refusal(404, "link_used", "This link was used before.")
    link = session.get_one(Invitation, link_id)
    name, kept = chosen
    if link.user_id is not None:
        user = session.get_one(User, link.user_id)
        user.password_hash = kept
        session.execute(delete(LoginSession).where(LoginSession.user_id == user.id))
        held = update(Token).where(Token.user_id == user.id, Token.revoked_at.is_(None))
        session.execute(held.values(revoked_at=now))
    else:
        user = User(name=name, name_key=comparable(name), password_hash=kept, role=ORGANISER, created_at=now)
        session.add(user)
    session.flush()
    note(session, now, Actor(user, address), f"link used: {link.kind}", user.name)
    return user


def _logged_in_from(session: Session, user_id: int, address: str) -> bool:
    same = (AuditNote.user_id == user_id, AuditNote.action == LOGIN, AuditNote.address == address[:80])
    return session.scalar(select(AuditNote.id).where(*same).limit(1)) is not None


def _taken(name: str) -> Refusal:
    return Refusal(409, "name_taken", f'The name "{name}" is taken: choose another.')


def _tokens(session: Session, user: User) -> list[Token]:
    query = select(Token).where(Token.user_id == user.id, Token.revoked_at.is_(None)).order_by(Token.id)
    return list(session.scalars(query))


def _known(actor: Actor) -> User:
    if actor.user is None:
        raise Refusal(401, "login_needed", "Log in first.")
    return actor.user


def _password(password: str, name: str) -> str:
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise wrong_field("password", f"needs {LEAST_PASSWORD} to {MOST_PASSWORD} characters.")
    if comparable(password) == comparable(name):
        raise wrong_field("password", "must not be your name.")
    try:
        password.encode()
    except UnicodeEncodeError:
        raise wrong_field("password", "has characters that are no text.") from None
    return password
