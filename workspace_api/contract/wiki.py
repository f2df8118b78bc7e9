"""Knowledge base: spaces, articles with content blocks, versions, questions, courses (part 2, §2.1, §4.1)."""

from functools import cached_property
from typing import Literal

from workspace_api.contract.access import AccessItem
from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, Date, DateParam, JsonMap, QuestionKind, Record, Undocumented


class PermissionRule(Record):
    """A rule of access; the values of `action` are not documented (part 2, §2.1)."""

    id: int | None = None
    action: str | None = None
    user_id: str | None = None
    block_id: int | None = None
    allow_nested: bool | None = None
    allow_everyone: bool | None = None
    allow_managers: bool | None = None
    inherit_from_parents: bool | None = None


class Space(Record):
    """A section of the knowledge base (part 2, §2.1)."""

    id: int | None = None
    title: str | None = None
    slug: str | None = None
    is_archived: bool | None = None
    is_public: bool | None = None
    icon: str | None = None
    creation_date: Date | None = None
    modification_date: Date | None = None
    description: str | None = None
    home_article_id: int | None = None
    order: int | None = None
    access: list[AccessItem] | None = None
    access_edit: list[AccessItem] | None = None
    access_rules: list[PermissionRule] | None = None


class ContentBlock(Record):
    """A piece of an article; `content` is HTML (part 2, §2.1)."""

    id: int | None = None
    type: str | None = None
    content: str | None = None
    name: str | None = None
    key: str | None = None
    size: str | None = None
    level: int | None = None
    sequence_index: int | None = None
    options: JsonMap | None = None


class Article(Record):
    """An article; one space and one parent at most (part 2, §2.1)."""

    id: int | None = None
    space_ids: list[int] | None = None
    title: str | None = None
    slug: str | None = None
    is_draft: bool | None = None
    content_blocks: list[ContentBlock] | None = None
    parent_ids: list[int] | None = None
    author_id: str | None = None
    creation_date: Date | None = None
    modification_date: Date | None = None
    last_editor_id: str | None = None
    access: list[AccessItem] | None = None
    access_edit: list[AccessItem] | None = None
    access_comment: list[AccessItem] | None = None
    orders: list[Undocumented] | None = None
    view_count: int | None = None
    viewed_user_ids: list[str] | None = None
    appearance: JsonMap | None = None
    access_rules: list[PermissionRule] | None = None


class ArticleVersion(Record):
    """A kept version of an article (part 2, §2.1)."""

    id: int | None = None
    article_id: int | None = None
    title: str | None = None
    content_blocks: list[ContentBlock] | None = None
    date: Date | None = None
    author_id: str | None = None


class QuestionVariant(Record):
    """One possible answer (part 2, §2.1)."""

    id: int | None = None
    name: str | None = None
    value: str | None = None
    is_valid: bool | None = None


class Question(Record):
    """A question on an article (part 2, §2.1)."""

    id: int | None = None
    article_id: int | None = None
    title: str | None = None
    type: QuestionKind | None = None
    is_exam: bool | None = None
    points: int | None = None
    variants: list[QuestionVariant] | None = None
    is_file_required: bool | None = None


class CourseStep(Record):
    """A step of a course (part 2, §2.1)."""

    id: str | None = None
    type: str | None = None
    article_id: int | None = None
    order: int | None = None


class CourseCategory(Record):
    """The place of a course in a category (part 2, §2.1)."""

    id: int | None = None
    category_key: str | None = None
    course_order: int | None = None


class Course(Record):
    """A course: articles in order, for the positions it is assigned to (part 2, §2.1)."""

    id: int | None = None
    title: str | None = None
    description: str | None = None
    cover_file_id: str | None = None
    steps: list[CourseStep] | None = None
    is_deleted: bool | None = None
    access_blocks: list[AccessItem] | None = None
    blocks_assign_date: JsonMap | None = None
    creation_date: Date | None = None
    modification_date: Date | None = None
    instructors: list[str] | None = None
    author_id: str | None = None
    is_periodic: bool | None = None
    categories: list[CourseCategory] | None = None
    access_rules: list[PermissionRule] | None = None


class SaveSpace(Params):
    """Create a space (no `id`) or change one (part 2, §4.1)."""

    id: int | None = None
    title: str | None = None
    slug: str | None = None
    is_archived: bool | None = None
    is_public: bool | None = None
    icon: str | None = None
    creation_date: DateParam | None = None
    modification_date: DateParam | None = None
    description: str | None = None
    home_article_id: int | None = None
    order: int | None = None
    access: list[AccessItem] | None = None
    access_edit: list[AccessItem] | None = None
    access_rules: list[PermissionRule] | None = None


class ArchiveSpace(Params):
    """Hide a space for all but the administrator; its articles are deleted (part 2, §3)."""

    id: int


class ListArticles(Params):
    """List the articles of one space, or of all (part 2, §4.1)."""

    space_id: int | None = None


class GetArticle(Params):
    """One article with its content (part 2, §4.1)."""

    id: int


class SaveArticle(Params):
    """Create an article (no `id`) or change one (part 2, §4.1)."""

    id: int | None = None
    space_ids: list[int] | None = None
    title: str | None = None
    slug: str | None = None
    content_blocks: list[ContentBlock] | None = None
    parent_ids: list[int] | None = None
    last_editor_id: str | None = None
    access: list[AccessItem] | None = None
    access_edit: list[AccessItem] | None = None
    access_comment: list[AccessItem] | None = None
    orders: list[Undocumented] | None = None
    appearance: JsonMap | None = None
    access_rules: list[PermissionRule] | None = None


class DeleteArticle(Params):
    """Delete an article (part 2, §4.1)."""

    id: int


class ArticleVersions(Params):
    """The kept versions of an article (part 2, §4.1)."""

    article_id: int


class GetQuestions(Params):
    """The question of an article: one object, whatever the plural says (part 2, §4.1)."""

    article_id: int


class SaveQuestion(Params):
    """Create a question (no `id`) or change one (part 2, §4.1)."""

    id: int | None = None
    article_id: int | None = None
    title: str | None = None
    type: Literal["variant", "open"] | None = None
    points: int | None = None
    variants: list[QuestionVariant] | None = None


class SaveCourse(Params):
    """Create a course (no `id`) or change one (part 2, §4.1)."""

    id: int | None = None
    title: str | None = None
    description: str | None = None
    cover_file_id: str | None = None
    steps: list[CourseStep] | None = None
    categories: list[CourseCategory] | None = None
    access_rules: list[PermissionRule] | None = None


class DeleteCourse(Params):
    """Delete a course (part 2, §4.1)."""

    id: int | None = None


class Spaces(Group[Mode]):
    """`wiki.space`"""

    list = Endpoint("/wiki/api/space/list", NoParams, Array[Space], effect=Effect.READ)
    save = Endpoint("/wiki/api/space/save", SaveSpace, Space, effect=Effect.SAVE, label="POST")
    archive = Endpoint("/wiki/api/space/archive", ArchiveSpace, bool, effect=Effect.REPLACE, label="POST")


class Articles(Group[Mode]):
    """`wiki.article`"""

    list = Endpoint("/wiki/api/article/list", ListArticles, Array[Article], effect=Effect.READ)
    get = Endpoint("/wiki/api/article/get", GetArticle, Article, effect=Effect.READ)
    save = Endpoint("/wiki/api/article/save", SaveArticle, Article, effect=Effect.SAVE, label="POST")
    delete = Endpoint("/wiki/api/article/delete", DeleteArticle, bool, effect=Effect.REPLACE, label="POST")
    versions = Endpoint("/wiki/api/article/versions", ArticleVersions, Array[ArticleVersion], effect=Effect.READ)
    get_questions = Endpoint("/wiki/api/article/get-questions", GetQuestions, Question, effect=Effect.READ)
    save_question = Endpoint(
        "/wiki/api/article/save-question", SaveQuestion, Array[Question], effect=Effect.SAVE, label="POST"
    )


class Courses(Group[Mode]):
    """`wiki.course`"""

    list = Endpoint("/wiki/api/course/list", NoParams, Array[Course], effect=Effect.READ)
    save = Endpoint("/wiki/api/course/save", SaveCourse, Course, effect=Effect.SAVE, label="POST")
    delete = Endpoint("/wiki/api/course/delete", DeleteCourse, bool, effect=Effect.REPLACE, label="POST")


class Wiki(Group[Mode]):
    """`wiki`"""

    @cached_property
    def space(self) -> Spaces[Mode]:
        return Spaces(self.door)

    @cached_property
    def article(self) -> Articles[Mode]:
        return Articles(self.door)

    @cached_property
    def course(self) -> Courses[Mode]:
        return Courses(self.door)
