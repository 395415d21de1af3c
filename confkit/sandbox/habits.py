"""How people meet, in numbers: what `simulate` assumes, each with its source.

*Published* figures are those of a measurement, named with its year; *assumed* ones are our choice.
The published ones come from offices and calendars of many firms. None is of this service.
"""

# Minutes of the clock on which a meeting begins, as shares by hour. Published: half of all meetings
# lie between 9 and 11 and between 13 and 15 (Microsoft, Work Trend Index, June 2025). Assumed: the
# shares of the single hours, and that nothing begins before 7 or after 20:30.
HOURS = {
    7: 1.5, 8: 6.0, 9: 14.5, 10: 14.5, 11: 9.5, 12: 5.0, 13: 12.5, 14: 12.5, 15: 9.5, 16: 7.0,
    17: 4.0, 18: 2.0, 19: 1.0, 20: 0.5,
}  # fmt: skip
ON_THE_HOUR = 2 / 3  # assumed; the others begin on the half
AD_HOC = 0.4  # of meetings out of no series, assumed: these begin at any five minutes

# Shares of a week's meetings, Monday to Friday. Published: Monday 16 %, Thursday 22 %, Tuesday and
# Wednesday nearly that, Friday less (Pace Productivity, in the Globe and Mail). Assumed: the rest.
# Daily series are as many on each day, so the others lean a little more.
WEEKDAYS = (14.5, 21.5, 21.5, 22.5, 20.0)
WEEKEND = 0.01  # of meetings out of no series fall on each of its two days, assumed

# Minutes. Published: 53 on average (Pace Productivity); longer in another count, where 42 % last an
# hour and as many more than that (Inspace, 2024). Assumed: the shares.
LENGTHS = {15: 0.04, 30: 0.22, 45: 0.08, 60: 0.43, 90: 0.12, 120: 0.11}
DAILY_LENGTHS = {15: 0.5, 30: 0.5}  # assumed

# People in a meeting: from, to, share of the meetings. Published: 2 to 4 in 40 % of the meetings,
# fewer than 7 in 85 %, more than 10 in 6 % (Density, Workplace Utilization Index, mid-2019: 60
# meeting rooms). Assumed: how those below 7 and above 10 are spread. As drawn here, before rooms
# that are always full and what varies add to the larger ones.
SIZES = ((1, 1, 0.21), (2, 4, 0.42), (5, 6, 0.26), (7, 10, 0.05), (11, 15, 0.030), (16, 25, 0.018),
         (26, 50, 0.009), (51, 120, 0.003))  # fmt: skip
VARIES = 0.15  # a meeting of four or more has so much more or fewer people each time, assumed

# What a room is for: every how many days, or weeks; how many such series it may have; the chance
# of each; the smallest and the largest meeting. All assumed, so that a room is in use for about two
# hours of a working day, which is published (Occuspace, 2 to 3 hours).
DAILY, WEEKLY = 1, 7
SERIES = (
    (DAILY, 1, 0.60, 1, 10),
    (WEEKLY, 12, 0.60, 1, 50),
    (2 * WEEKLY, 2, 0.50, 2, 50),
    (4 * WEEKLY, 2, 0.40, 7, 120),
)
SINGLE = (12, 0.60)  # meetings out of no series in a week: at most, and the chance of each
BUSY = (0.4, 1.6)  # rooms differ: all these chances are multiplied by a number in here, assumed
# Of a series' meetings. Published (VergeSense, December 2023); theirs of May 2023 was 37 %.
NOT_HELD = 0.11

# Who comes late. Published: 17 % in meetings of two, 29 % of three to six, 51 % of seven and more,
# by 222 seconds on average (Read, April 2022: three million minutes of video meetings). Assumed:
# that these times are exponential, and that the others come a minute before the start on average.
LATE = ((2, 0.17), (6, 0.29), (10**9, 0.51))  # in meetings of so many at most
LATE_SECONDS = 222.0
EARLY_SECONDS = 60.0

# When it ends. Published: 51 % run over by more than a minute (Read). Assumed: by how much, and
# that the others end up to five minutes before their time; that 8 % leave in the second half.
RUN_OVER = 0.51
RUN_OVER_SECONDS = 180.0
ENDS_BEFORE = 300.0
LEAVE_EARLY = 0.08

# The rooms, all assumed. Among the rest the caps suit the largest series, with a fifth to spare.
ALWAYS_FULL = 0.03  # their cap is too small for every meeting: people are turned away
NEVER_USED = 0.05  # one of them has a camera in it
FAR_TOO_LARGE = 0.25
WITHOUT_CAP = 0.12
LARGE_CAPS = (100, 150, 200, 300, 500)
FULL_CAPS = (4, 9)
FULL_SIZES = (1.2, 1.8)  # times the cap
