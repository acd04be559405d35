// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_screen.h"
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <term.h>
#include "common/err.h"
#include "top/message_table.h"
#include "common/text_char.h"
#include "common/util.h"
#include "top/job_view.h"

#define REDRAW_MS  1000 /* interval at which the shown age is updated */
#define ESCAPE_MS  50	/* time after which Esc is not the begin of another key */
#define KEY_ESCAPE 27
#define PREFIX	   "proftrace: "

static volatile sig_atomic_t interrupted;

struct top_screen {
	const struct top_screen_opts *opts;
	struct job_view view;
	struct gatherer *gatherer;
	uint64_t at_ns;			     /* when the view's jobs came */
	bool ascii, colours, quits, is_over; /* is_over: the monitor has ended */
	SCREEN *screen;
	struct canvas canvas;
};

static void interrupt(int sig)
{
	interrupted = 1;
}

/* ncurses does not change signals that have a handler. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = interrupt};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* ---- drawing ---- */

static void begin_colours(struct top_screen *s)
{
	static const short colours[STYLE_CNT] = {
		[STYLE_WARN] = COLOR_YELLOW,   [STYLE_FORWARD] = COLOR_GREEN,
		[STYLE_BACKWARD] = COLOR_CYAN, [STYLE_OPTIMIZER] = COLOR_MAGENTA,
		[STYLE_LOADER] = COLOR_RED,
	};

	s->colours =
		s->colours && has_colors() && start_color() != ERR && use_default_colors() != ERR;
	for (short i = STYLE_WARN; s->colours && i < STYLE_CNT; i++)
		init_pair(i, colours[i], -1);
}

static attr_t attributes(const struct top_screen *s, int style, bool is_selected)
{
	attr_t a = is_selected ? A_REVERSE : A_NORMAL;

	if (style == STYLE_HEAD || style == STYLE_WARN)
		a |= A_BOLD;
	if (s->colours && style >= STYLE_WARN)
		a |= (attr_t)COLOR_PAIR(style);
	return a;
}

static void show(struct top_screen *s)
{
	struct canvas *c = &s->canvas;

	s->view.age_s = (double)(clock__ns(CLOCK_MONOTONIC) - s->at_ns) / 1e9;
	canvas__clear(c, COLS, LINES, s->ascii);
	job_view__draw(&s->view, c);
	erase();
	for (int row = 0; row < c->rows; row++) {
		for (int col = 0; col < c->cols; col++) {
			const struct canvas_cell *cell = &c->cells[row][col];

			if (!*cell->s)
				continue;
			attrset((int)attributes(s, cell->style, row == c->selected));
			mvaddstr(row, col, cell->s);
		}
	}
	refresh();
}

/* ---- keys ---- */

/* Requests a window of the first rank that has not ended. */
static void record(struct top_screen *s)
{
	const struct job *j = job_view__chosen(&s->view);
	char *message = s->view.message;
	const size_t size = sizeof(s->view.message);
	const struct job_rank *r = NULL;

	for (size_t i = 0; j && i < j->rank_cnt && !r; i++)
		if (strcmp(j->ranks[i].state, "ended") != 0)
			r = &j->ranks[i];
	if (!r)
		snprintf(message, size, "There is no rank to record.");
	else if (gatherer__record(s->gatherer, r->pid))
		snprintf(message, size, "Asking the monitor for a window of %.100s, rank %s.",
			 j->key.name, r->rank);
	else
		snprintf(message, size, "The monitor has not answered the request before.");
}

static void open_or_close(struct top_screen *s, bool opens)
{
	if (!opens && !s->view.is_open)
		s->quits = true;
	s->view.is_open = opens && job_view__chosen(&s->view);
	if (s->view.is_open)
		s->view.chosen = job_view__chosen(&s->view)->key;
	s->view.scroll = 0;
}

static void on_key(struct top_screen *s, int key)
{
	struct job_view *v = &s->view;
	const int page = v->is_open && v->page_rows > 1 ? v->page_rows - 1 : 10;

	v->message[0] = '\0';
	switch (key) {
	case 'q':
		open_or_close(s, false);
		break;
	case KEY_ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
		if (v->is_open)
			open_or_close(s, false);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		if (!v->is_open)
			open_or_close(s, true);
		break;
	case 'j':
	case KEY_DOWN:
		job_view__move(v, 1);
		break;
	case 'k':
	case KEY_UP:
		job_view__move(v, -1);
		break;
	case ' ':
	case KEY_NPAGE:
		job_view__move(v, page);
		break;
	case KEY_PPAGE:
		job_view__move(v, -page);
		break;
	case 's':
		job_view__set_order(v, (v->order + 1) % ORDER_CNT);
		break;
	case 'r':
		record(s);
		break;
	default: /* includes KEY_RESIZE: the screen is drawn again */
		break;
	}
}

/* ---- what came ---- */

/* The last line of the monitor's log that names a cause. "": there is none. */
static void last_words(int log, char *to, size_t size)
{
	char text[2048];
	const off_t end = lseek(log, 0, SEEK_END);
	const off_t from = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	const ssize_t n = pread(log, text, sizeof(text) - 1, from);
	char *rest = text;

	text[n > 0 ? n : 0] = '\0';
	*to = '\0';
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (*line && (!*to || !strstr(line, "its session ended")))
			snprintf(to, size, "%s",
				 strncmp(line, PREFIX, strlen(PREFIX)) ? line
								       : line + strlen(PREFIX));
}

static bool has_windows(const struct job_list *l)
{
	for (size_t i = 0; l && i < l->cnt; i++)
		if (l->jobs[i].windows)
			return true;
	return false;
}

/* For our own monitor: it attaches, or says why it cannot. */
static void describe_own(struct top_screen *s)
{
	struct job_view *v = &s->view;

	v->is_starting = !has_windows(v->jobs);
	if (!v->is_starting)
		return;
	last_words(s->opts->log, v->problem, sizeof(v->problem));
	if (!v->problem[0])
		snprintf(v->problem, sizeof(v->problem), "%s",
			 v->jobs && v->jobs->cnt ? "Attaching: the first window takes some seconds."
						 : s->opts->awaiting);
}

static void take(struct top_screen *s)
{
	struct gathered news;

	if (gatherer__take(s->gatherer, &news)) {
		snprintf(s->view.place, sizeof(s->view.place), "%s", news.place);
		snprintf(s->view.problem, sizeof(s->view.problem), "%s", news.problem);
		if (news.jobs) {
			s->at_ns = news.at_ns;
			job_view__set_jobs(&s->view, news.jobs);
		}
	}
	if (s->opts->log >= 0) {
		siginfo_t ended = {0};

		describe_own(s);
		/* The process that started the monitor collects its exit status. */
		s->is_over = !waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid;
	}
	gatherer__take_answer(s->gatherer, s->view.message, sizeof(s->view.message));
}

static void loop(struct top_screen *s)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = gatherer__fd(s->gatherer), .events = POLLIN}};

	while (!s->quits && !s->is_over && !interrupted) {
		int key;

		show(s);
		poll(fds, ARRAY_SIZE(fds), REDRAW_MS);
		/* The terminal was closed. */
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return;
		take(s);
		while (!s->quits && (key = getch()) != ERR)
			on_key(s, key);
	}
}

/* -1: the terminal's description does not have the string. */
static bool can(const char *capability)
{
	const char *text = tigetstr(capability);

	return text && text != (const char *)-1;
}

static int check_terminal(void)
{
	const char *term = getenv("TERM");
	int status;

	if (setupterm(NULL, STDOUT_FILENO, &status) == OK && can("cup") && can("clear"))
		return 0;
	return err__set(-ENOTTY, MESSAGE_TERMINAL_UNKNOWN, term ? term : "");
}

static int begin(struct top_screen *s)
{
	const int err = check_terminal();

	if (err)
		return err;
	setlocale(LC_CTYPE, "");
	/* The first call reads tables, so it is made before there is a second thread. */
	text__columns("\u00e9");
	s->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	catch_signals();
	s->screen = newterm(NULL, stdout, stdin);
	if (!s->screen)
		return err__set(-EIO, MESSAGE_TERMINAL_UNUSABLE);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	begin_colours(s);
	return 0;
}

static int ended_early(const struct top_screen *s)
{
	char words[512];

	last_words(s->opts->log, words, sizeof(words));
	return err__set(-ECHILD, MESSAGE_MONITOR_ENDED, words);
}

int top_screen__run(const struct top_screen_opts *o)
{
	struct top_screen *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->opts = o;
	s->colours = o->colours;
	s->at_ns = clock__ns(CLOCK_MONOTONIC);
	err = begin(s);
	if (!err) {
		err = gatherer__start(&o->gather, &s->gatherer);
		if (!err)
			loop(s);
		endwin();
		delscreen(s->screen);
	}
	if (!err && s->is_over)
		err = ended_early(s);
	if (s->gatherer)
		gatherer__stop(s->gatherer);
	job_list__free(s->view.jobs);
	free(s);
	return err;
}
