#include "daemon/ctl/placement_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

namespace torc::ctl {
namespace {

using placement::MemberIndex;
using placement::OwnerTable;

constexpr int kCardWidth = 320;
constexpr int kCardHeight = 440;
constexpr int kColumnsMax = 4;
constexpr int kMargin = 24;
constexpr int kHeading = 64;
constexpr int kLegendRow = 20;
constexpr int kLegendColumn = 150;
constexpr size_t kLegendMax = 24;
// Half a degree: finer arcs than this do not show.
constexpr size_t kSlots = 720;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Hues a golden angle apart differ for neighbours however many there are. Those who stay are quiet,
// those who came are strong and reddish, those who left are grey.
std::vector<std::string> colours_of(const Everyone& everyone) {
  std::vector<std::string> colours;
  int newcomers = 0;
  for (size_t m = 0; m < everyone.names.size(); ++m) {
    const bool is_new = !everyone.was[m];
    const double turn = std::fmod(210 + 137.508 * static_cast<double>(m), 360);
    const int hue = is_new ? (350 + 14 * newcomers++) % 360 : static_cast<int>(turn);
    char text[40];
    std::snprintf(text, sizeof text, "hsl(%d,%d%%,%d%%)", hue, is_new ? 95 : 42, is_new ? 45 : 68);
    colours.emplace_back(everyone.is[m] ? text : "#9a9a9a");
  }
  return colours;
}

class Picture {
 public:
  Picture(const PlacementScenario& scenario, std::span<const PolicyOutcome> outcomes)
      : scenario_(scenario),
        outcomes_(outcomes),
        everyone_(everyone_in(scenario)),
        fair_pct_(fair_shares_pct(scenario)),
        colours_(colours_of(everyone_)) {
    find_rows();
  }

  std::string draw() {
    const int columns = std::min(kColumnsMax, std::max(1, static_cast<int>(outcomes_.size())));
    const int rows = (static_cast<int>(outcomes_.size()) + columns - 1) / columns;
    // The words need the room of two cards.
    const int width = 2 * kMargin + std::max(2, columns) * kCardWidth;
    const size_t shown = std::min(kLegendMax, everyone_.names.size());
    const int per_row = std::max(1, (width - 2 * kMargin) / kLegendColumn);
    const int legend_rows = (static_cast<int>(shown) + per_row - 1) / per_row;
    const int legend_top = kHeading + rows * kCardHeight;
    const int height = legend_top + (legend_rows + 4) * kLegendRow;

    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
           "\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width) +
           " " + std::to_string(height) +
           "\" font-family=\"DejaVu Sans,Helvetica,Arial,sans-serif\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    draw_heading();
    for (size_t i = 0; i < outcomes_.size(); ++i) {
      const int column = static_cast<int>(i) % columns;
      const int row = static_cast<int>(i) / columns;
      draw_card(outcomes_[i], kMargin + column * kCardWidth, kHeading + row * kCardHeight);
    }
    draw_legend(legend_top, per_row, shown);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  // The row that stands at each slot of the circle: the first at or after it.
  void find_rows() {
    const std::vector<double> angles = row_angles(scenario_);
    std::vector<uint32_t> order(angles.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(angles[a], a) < std::tie(angles[b], b);
    });
    size_t next = 0;
    for (size_t slot = 0; slot < kSlots; ++slot) {
      const double angle = (static_cast<double>(slot) + 0.5) / kSlots;
      while (next < order.size() && angles[order[next]] < angle) ++next;
      row_at_.push_back(order[next == order.size() ? 0 : next]);
    }
  }

  void text(double x, double y, int size, std::string_view anchor, std::string_view fill,
            std::string_view words, bool bold = false) {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" +
            std::to_string(size) + "\" text-anchor=\"" + std::string(anchor) + "\" fill=\"" +
            std::string(fill) + "\"" + (bold ? " font-weight=\"bold\"" : "") + ">" + escape(words) +
            "</text>\n";
  }

  void draw_heading() {
    std::string words = std::to_string(scenario_.before.size()) + " members";
    if (!scenario_.change.empty()) {
      const bool long_change = scenario_.change.size() > 60;
      words +=
          ", then " + (long_change ? scenario_.change.substr(0, 57) + "..." : scenario_.change);
    }
    text(kMargin, 30, 18, "start", "#222", words, true);
    std::string placed = scenario_.keys ? std::to_string(*scenario_.keys) + " keys"
                                        : std::to_string(scenario_.partitions) + " partitions";
    placed += " x " + std::to_string(scenario_.replication) +
              (scenario_.replication == 1 ? " copy" : " copies");
    if (!scenario_.change.empty()) {
      placed += "; what must move: " + number(minimum_moved_pct(scenario_)) + " %";
    }
    text(kMargin, 50, 13, "start", "#555", placed);
  }

  // A ring of one arc for each slot. All arcs of a colour are the dashes of one circle, which keeps
  // the file small. `colour(slot)` may be empty.
  template <typename Colour>
  void draw_ring(double x, double y, double inner, double outer, Colour colour) {
    std::map<std::string, std::vector<size_t>> slots;
    for (size_t slot = 0; slot < kSlots; ++slot) slots[colour(slot)].push_back(slot);
    const double radius = (inner + outer) / 2;
    for (const auto& [fill, list] : slots) {
      if (fill.empty()) continue;
      // From the top, clockwise.
      out_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) +
              "\" fill=\"none\" stroke=\"" + fill + "\" stroke-width=\"" + number(outer - inner) +
              "\" transform=\"rotate(-90 " + number(x) + " " + number(y) + ")\"" +
              dashes(list, radius) + "/>\n";
    }
  }

  // The lengths of dashes and gaps in turn, beginning with a dash. The rounding never adds up, as
  // each length is what is missing to the next end.
  static std::string dashes(const std::vector<size_t>& slots, double radius) {
    if (slots.size() == kSlots) return {};
    const double step = 2 * std::numbers::pi * radius / kSlots;
    std::string list;
    double drawn = 0;
    const auto go_to = [&](size_t slot) {
      const double length = std::round((static_cast<double>(slot) * step - drawn) * 100) / 100;
      drawn += length;
      list += (list.empty() ? "" : " ") + number(length);
    };
    if (slots.front() != 0) list = "0";
    for (size_t i = 0; i < slots.size(); ++i) {
      const bool begins = i == 0 || slots[i - 1] + 1 != slots[i];
      const bool ends = i + 1 == slots.size() || slots[i] + 1 != slots[i + 1];
      if (begins && slots[i] != 0) go_to(slots[i]);
      if (ends) go_to(slots[i] + 1);
    }
    // The last gap is longer than what is left, so that nothing is drawn a second time.
    return " stroke-dasharray=\"" + list + " 9999\"";
  }

  std::string head_colour(const OwnerTable& table, size_t slot) const {
    const auto owners = table.row(row_at_[slot]);
    return owners.empty() ? std::string("#fff") : colours_[owners.front()];
  }

  // The colour of a member that gained a copy of the slot's row; empty: nobody did.
  std::string gain_colour(const PolicyOutcome& outcome, size_t slot) const {
    const auto was = outcome.before.row(row_at_[slot]);
    for (const MemberIndex owner : outcome.after.row(row_at_[slot])) {
      if (std::find(was.begin(), was.end(), owner) == was.end()) {
        return colours_[owner];
      }
    }
    return {};
  }

  void draw_card(const PolicyOutcome& outcome, int left, int top) {
    const double x = left + kCardWidth / 2.0;
    const double y = top + 168;
    text(x, top + 18, 15, "middle", "#222", outcome.policy, true);
    out_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) +
            "\" r=\"133\" fill=\"none\" stroke=\"#e4e4e4\" stroke-width=\"10\"/>\n";
    draw_ring(x, y, 88, 122, [&](size_t slot) { return head_colour(outcome.after, slot); });
    if (!scenario_.change.empty()) {
      draw_ring(x, y, 128, 138, [&](size_t slot) { return gain_colour(outcome, slot); });
      draw_ring(x, y, 72, 82, [&](size_t slot) { return head_colour(outcome.before, slot); });
      text(x, y - 8, 22, "middle", "#222", number(outcome.moved_pct) + " %", true);
      text(x, y + 10, 12, "middle", "#555", "moved");
      if (outcome.moved_over_minimum) {
        text(x, y + 28, 12, "middle", "#555",
             number(*outcome.moved_over_minimum) + " x the minimum");
      }
    }
    draw_bars(outcome, left + 30, top + 330);
  }

  // The shares after the change as bars, each with a mark at the fair share.
  void draw_bars(const PolicyOutcome& outcome, int left, int top) {
    constexpr int kWidth = kCardWidth - 60;
    constexpr int kHeight = 60;
    const double most =
        std::max(*std::max_element(fair_pct_.begin(), fair_pct_.end()),
                 *std::max_element(outcome.shares_pct.begin(), outcome.shares_pct.end()));
    const double scale = kHeight / most;
    const double step = kWidth / static_cast<double>(scenario_.after.size());
    double x = left;
    for (size_t m = 0; m < everyone_.names.size(); ++m) {
      if (!everyone_.is[m]) continue;
      const double width = std::max(0.5, step * 0.85);
      const double height = outcome.shares_pct[m] * scale;
      draw_box(x, top + kHeight - height, width, height, colours_[m]);
      draw_box(x, top + kHeight - fair_pct_[m] * scale - 0.75, width, 1.5, "#222");
      x += step;
    }
    text(left, top + kHeight + 18, 12, "start", "#555",
         "max/mean " + number(outcome.max_over_mean) + ", sd " + number(outcome.sd_pct) + " %");
    if (outcome.rack_violations > 0) {
      text(left, top + kHeight + 34, 12, "start", "#b00020",
           std::to_string(outcome.rack_violations) + " break the rack rule");
    }
  }

  void draw_box(double x, double y, double width, double height, std::string_view fill) {
    out_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
            "\" height=\"" + number(height) + "\" fill=\"" + std::string(fill) + "\"/>\n";
  }

  // Those who came or left stand first, as not all may fit.
  void draw_legend(int top, int per_row, size_t shown) {
    std::vector<size_t> order;
    for (const bool stays : {false, true}) {
      for (size_t m = 0; m < everyone_.names.size(); ++m) {
        if ((everyone_.was[m] && everyone_.is[m]) == stays) order.push_back(m);
      }
    }
    for (size_t place = 0; place < shown; ++place) {
      const size_t m = order[place];
      const int x = kMargin + static_cast<int>(place) % per_row * kLegendColumn;
      const int y = top + static_cast<int>(place) / per_row * kLegendRow;
      draw_box(x, y, 12, 12, colours_[m]);
      std::string name = everyone_.names[m];
      if (name.size() > 14) name = name.substr(0, 11) + "...";
      if (!everyone_.was[m]) name += " (new)";
      if (!everyone_.is[m]) name += " (gone)";
      text(x + 18, y + 11, 12, "start", "#333", name);
    }
    const int rows = (static_cast<int>(shown) + per_row - 1) / per_row;
    int y = top + rows * kLegendRow + 18;
    const auto line = [&](std::string_view words) {
      text(kMargin, y, 12, "start", "#555", words);
      y += 18;
    };
    if (shown < everyone_.names.size()) {
      line("and " + std::to_string(everyone_.names.size() - shown) + " more members");
    }
    line("Bars: shares of all copies, with a mark at the fair share.");
    if (scenario_.change.empty()) {
      line("Ring: who has the first copy.");
    } else {
      line(
          "Outer ring: what moved, in the colour of who got it. Middle: first copies now; inner: "
          "before.");
    }
  }

  const PlacementScenario& scenario_;
  const std::span<const PolicyOutcome> outcomes_;
  const Everyone everyone_;
  const std::vector<double> fair_pct_;
  const std::vector<std::string> colours_;  // by member
  std::vector<uint32_t> row_at_;            // by slot
  std::string out_;
};

}  // namespace

std::string draw_comparison(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes) {
  return Picture(scenario, outcomes).draw();
}

}  // namespace torc::ctl
